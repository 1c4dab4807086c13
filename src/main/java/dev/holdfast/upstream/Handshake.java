package dev.holdfast.upstream;

import dev.holdfast.protocol.Message;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A server's answer to {@code initialize}.
 *
 * @param response the JSON-RPC response, a result or an error, on one line
 * @param link the opened session; null when the response is an error
 * @param before the messages before the response, in order
 */
public record Handshake(
    byte[] response, @Nullable UpstreamLink link, List<UpstreamMessage> before) {

  /** Copies the list. */
  public Handshake {
    before = List.copyOf(before);
  }

  /**
   * The handshake of a response.
   *
   * @param response its bytes are on one line
   * @param session the server's id of the session; null if there is none
   * @param isVersion tells valid protocol versions
   * @throws UpstreamException.Broken if a result has no valid version
   */
  public static Handshake of(
      Message.Response response,
      @Nullable String session,
      List<UpstreamMessage> before,
      Predicate<String> isVersion) {
    if (response.error()) {
      return new Handshake(response.bytes(), null, before);
    }
    String version =
        response
            .protocolVersion()
            .filter(isVersion)
            .orElseThrow(
                () -> new UpstreamException.Broken("an initialize result without a version", null));
    return new Handshake(response.bytes(), new UpstreamLink(session, version), before);
  }
}
