package dev.holdfast.protocol;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The parameters of {@code initialize} that the gateway uses.
 *
 * @param protocolVersion the revision that the client asks for, supported here or not
 * @param clientName {@code clientInfo.name}, if it is a string; cut to {@value #MAX_CHARACTERS}
 *     characters
 * @param clientVersion {@code clientInfo.version}, by the same rules
 */
public record InitializeRequest(
    String protocolVersion, @Nullable String clientName, @Nullable String clientVersion) {

  private static final int MAX_CHARACTERS = 200;
  private static final String PROTOCOL_VERSION = "params.protocolVersion";
  private static final String CLIENT_NAME = "params.clientInfo.name";
  private static final String CLIENT_VERSION = "params.clientInfo.version";

  /** Cuts the name and the version, since they are stored with the session. */
  public InitializeRequest {
    clientName = cut(clientName);
    clientVersion = cut(clientVersion);
  }

  private static @Nullable String cut(@Nullable String text) {
    return text == null || text.codePointCount(0, text.length()) <= MAX_CHARACTERS
        ? text
        : text.substring(0, text.offsetByCodePoints(0, MAX_CHARACTERS));
  }

  /** A request of the gateway itself, under a name, which opens a session without capabilities. */
  public static Message.Request of(String clientName, String clientVersion) {
    byte[] request =
        JsonRpcMessages.of(Methods.INITIALIZE)
            .set("1", "id")
            .set(
                JsonEdit.quote(ProtocolVersion.NEWEST_WITH_SESSIONS.wire()),
                "params",
                "protocolVersion")
            .set("{}", "params", "capabilities")
            .set(JsonEdit.quote(clientName), "params", "clientInfo", "name")
            .set(JsonEdit.quote(clientVersion), "params", "clientInfo", "version")
            .toBytes();
    return (Message.Request) ((Body.Single) Envelopes.read(request)).message();
  }

  /** Returns the client's name and version in one text for people to read. */
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
    Map<String, String> found =
        JsonPathReader.read(request.bytes(), PROTOCOL_VERSION, CLIENT_NAME, CLIENT_VERSION);
    String protocolVersion = found.get(PROTOCOL_VERSION);
    if (protocolVersion == null) {
      throw new EnvelopeException(
          JsonRpcErrorCode.INVALID_PARAMS,
          "Invalid params: protocolVersion must be a string",
          request.id(),
          null);
    }
    return new InitializeRequest(
        protocolVersion, found.get(CLIENT_NAME), found.get(CLIENT_VERSION));
  }
}
