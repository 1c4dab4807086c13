package dev.holdfast.upstream.http;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The credentials at a server: those of the gateway, or of its clients. */
public interface Credentials {

  /** No credentials, or those of the configured headers. */
  Credentials NONE = (_, _) -> null;

  /**
   * Returns the value of {@code Authorization} for the next request of a client; null for none. May
   * wait for an authorization server.
   *
   * @param asked whether the client has just asked for it; not, when the gateway connects again
   * @throws dev.holdfast.upstream.UpstreamException.NoToken if the client must show a token first
   * @throws dev.holdfast.upstream.UpstreamException.Unreachable if there are no credentials. The
   *     request must not be sent then
   */
  @Nullable String authorization(ClientSession caller, boolean asked);

  /**
   * The server has answered 401.
   *
   * @param authorization what the request had; null for none
   * @param challenges the values of {@code WWW-Authenticate}
   * @return whether there may be other credentials now, with which the request is worth another
   *     attempt
   */
  default boolean refused(
      ClientSession caller, @Nullable String authorization, List<String> challenges) {
    return false;
  }

  /** Returns true if they follow from the token of the client. */
  default boolean needClientToken() {
    return false;
  }

  /** Returns true if they are the client's own, so that the challenge of a refusal is for it. */
  default boolean areOfClient() {
    return false;
  }

  /** Closes connections. */
  default void close() {}
}
