package dev.holdfast.protocol;

import org.jspecify.annotations.Nullable;

/**
 * What a client says of itself in {@code initialize}.
 *
 * @param protocolVersion the revision that it asks for, known to us or not
 * @param clientName {@code clientInfo.name}, if it is a string; no more than its first {@value
 *     #MOST_CHARACTERS} characters
 * @param clientVersion {@code clientInfo.version}, likewise
 */
public record InitializeRequest(
    String protocolVersion, @Nullable String clientName, @Nullable String clientVersion) {

  /** What is kept of a name or a version: they stay with the session, wherever that is recorded. */
  static final int MOST_CHARACTERS = 200;

  /** Cuts what is too long. */
  public InitializeRequest {
    clientName = cut(clientName);
    clientVersion = cut(clientVersion);
  }

  private static @Nullable String cut(@Nullable String text) {
    return text == null || text.codePointCount(0, text.length()) <= MOST_CHARACTERS
        ? text
        : text.substring(0, text.offsetByCodePoints(0, MOST_CHARACTERS));
  }

  /** The client's name and version in one text; for people to read. */
  public String client() {
    return (clientName == null ? "" : clientName) + "/" + clientVersion;
  }

  /**
   * Reads the parameters of an {@code initialize} request.
   *
   * @throws EnvelopeException with {@link JsonRpcErrorCode#INVALID_PARAMS} and the request's id if
   *     {@code params.protocolVersion} is missing or not a string
   */
  public static InitializeRequest read(Message.Request request) {
    JsonPathReader found =
        JsonPathReader.read(
            request.bytes(),
            "params.protocolVersion",
            "params.clientInfo.name",
            "params.clientInfo.version");
    String protocolVersion = found.get("params.protocolVersion");
    if (protocolVersion == null) {
      throw new EnvelopeException(
          JsonRpcErrorCode.INVALID_PARAMS,
          "Invalid params: protocolVersion must be a string",
          request.id(),
          null);
    }
    return new InitializeRequest(
        protocolVersion,
        found.get("params.clientInfo.name"),
        found.get("params.clientInfo.version"));
  }
}
