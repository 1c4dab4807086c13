package dev.holdfast.upstream.http;

import org.jspecify.annotations.Nullable;

/** The gateway's credentials at a server. */
public interface Credentials {

  /** No credentials, or those of the configured headers. */
  Credentials NONE = () -> null;

  /**
   * Returns the value of {@code Authorization} for the next request; null for none. May wait for an
   * authorization server.
   *
   * @throws dev.holdfast.upstream.UpstreamException.Unreachable if there are no credentials. The
   *     request must not be sent then
   */
  @Nullable String authorization();

  /** The server has answered 401 to a request with these credentials. */
  default void refused(String authorization) {}

  /** Closes connections. */
  default void close() {}
}
