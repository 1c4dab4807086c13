package dev.holdfast.protocol;

import java.util.Optional;

/**
 * The part of the {@code initialize} result that the gateway uses.
 *
 * @param protocolVersion the revision that the server chose, supported here or not
 */
public record InitializeResult(String protocolVersion) {

  /**
   * Reads the response to {@code initialize}. Empty if it is an error or has no string at {@code
   * result.protocolVersion}: then there is no session.
   */
  public static Optional<InitializeResult> read(Message.Response response) {
    String path = "result.protocolVersion";
    return Optional.ofNullable(JsonPathReader.read(response.bytes(), path).get(path))
        .map(InitializeResult::new);
  }
}
