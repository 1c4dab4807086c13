package dev.holdfast.protocol;

import java.util.Optional;

/**
 * What a server answers to {@code initialize}, as far as the gateway acts on it.
 *
 * @param protocolVersion the revision that it chose, known to us or not
 */
public record InitializeResult(String protocolVersion) {

  /**
   * Reads the result of an {@code initialize} response.
   *
   * @return the result; empty if the response is an error or has no string at {@code
   *     result.protocolVersion}: then there is no session
   */
  public static Optional<InitializeResult> read(Message.Response response) {
    String path = "result.protocolVersion";
    return Optional.ofNullable(JsonPathReader.read(response.bytes(), path).get(path))
        .map(InitializeResult::new);
  }
}
