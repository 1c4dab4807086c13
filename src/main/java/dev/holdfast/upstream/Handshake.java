package dev.holdfast.upstream;

import java.util.List;
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
}
