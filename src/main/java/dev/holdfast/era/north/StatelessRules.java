package dev.holdfast.era.north;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.McpHeaders;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.ProtocolVersion;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Rules for requests without a session (MCP 2026-07-28, Transports), in the order of the checks.
 */
final class StatelessRules {

  /** The most characters of the capabilities of a client, which are kept as long as its call. */
  private static final int MAX_CAPABILITIES = 16 * 1024;

  private static final String ENCODED = "=?base64?";
  private static final String ENCODED_END = "?=";

  private StatelessRules() {}

  /** Returns true if a header names a revision without sessions. */
  static boolean isStateless(@Nullable String version) {
    return version != null
        && ProtocolVersion.parse(version).filter(known -> !known.hasSessions()).isPresent();
  }

  /**
   * Returns true if a body is of a revision without sessions. The body decides: some clients send
   * the header of an earlier revision.
   *
   * @param version the header; null if there is none
   */
  static boolean isStateless(Body body, @Nullable String version) {
    return switch (body) {
      case Body.Batch(List<Message> messages, _) ->
          messages.stream().anyMatch(message -> message.version() != null);
      case Body.Single(Message.Request request) when request.isInitialize() ->
          isStateless(request.version());
      case Body.Single(Message message) -> message.version() != null || isStateless(version);
    };
  }

  /**
   * Checks a request.
   *
   * @param header returns the value of a header; null for none
   * @return true if the header names an earlier revision than the body
   * @throws StatelessException if it breaks a rule
   */
  static boolean check(StatelessRequest request, UnaryOperator<@Nullable String> header) {
    String version = request.message().version();
    if (version == null || version.isEmpty()) {
      throw StatelessException.invalidParams(400, "_meta needs a protocolVersion");
    }
    if (!request.hasCapabilities()) {
      throw StatelessException.invalidParams(400, "_meta needs clientCapabilities, an object");
    }
    if (request.capabilities().length() > MAX_CAPABILITIES) {
      throw StatelessException.invalidParams(
          400, "clientCapabilities have at most " + MAX_CAPABILITIES + " characters");
    }
    String named = header.apply(McpHeaders.PROTOCOL_VERSION);
    boolean earlier = isEarlier(named, version);
    if (!version.equals(named) && !earlier) {
      throw StatelessException.mismatch("MCP-Protocol-Version is not the version in _meta");
    }
    if (!isStateless(version)) {
      throw unsupported(version, true);
    }
    if (StatelessMethods.REMOVED.contains(request.method())) {
      throw StatelessException.unknownMethod(request.method());
    }
    if (earlier) {
      return true;
    }
    if (!request.method().equals(trimmed(header.apply(McpHeaders.METHOD)))) {
      throw StatelessException.mismatch("Mcp-Method is not the method of the request");
    }
    String name = request.name();
    if (name != null && !name.equals(decoded(header.apply(McpHeaders.NAME)))) {
      throw StatelessException.mismatch("Mcp-Name is not the name in params");
    }
    return false;
  }

  /**
   * Returns true for a header of a revision with sessions beside a supported version: connectors of
   * a widely used client send that.
   */
  private static boolean isEarlier(@Nullable String named, String version) {
    return named != null
        && ProtocolVersion.parseWithSessions(named).isPresent()
        && isStateless(version);
  }

  /**
   * The refusal of a version.
   *
   * @param withoutSessions true if clients without a session are served
   */
  static StatelessException unsupported(@Nullable String version, boolean withoutSessions) {
    return new StatelessException(
        400,
        JsonRpcErrorCode.UNSUPPORTED_VERSION,
        "Unsupported protocol version",
        "{\"supported\":%s,\"requested\":%s}"
            .formatted(versions(withoutSessions), JsonEdit.quote(String.valueOf(version))));
  }

  /**
   * Names of the revisions, the newest first, as a JSON array.
   *
   * @param withoutSessions true for all revisions, false for those with sessions
   */
  static String versions(boolean withoutSessions) {
    Stream<String> without =
        withoutSessions ? ProtocolVersion.names(false).reversed().stream() : Stream.of();
    return Stream.concat(without, ProtocolVersion.names(true).reversed().stream())
        .map(JsonEdit::quote)
        .collect(Collectors.joining(",", "[", "]"));
  }

  private static @Nullable String trimmed(@Nullable String value) {
    return value == null ? null : value.strip();
  }

  /** Decodes a header value; an invalid encoding is a mismatch. */
  private static @Nullable String decoded(@Nullable String header) {
    String value = trimmed(header);
    if (value == null || !value.startsWith(ENCODED) || !value.endsWith(ENCODED_END)) {
      return value;
    }
    int to = Math.max(ENCODED.length(), value.length() - ENCODED_END.length());
    String base64 = value.substring(ENCODED.length(), to);
    try {
      byte[] bytes = Base64.getDecoder().decode(base64);
      boolean exact = Objects.equals(Base64.getEncoder().encodeToString(bytes), base64);
      return exact ? new String(bytes, UTF_8) : null;
    } catch (IllegalArgumentException invalid) {
      return null;
    }
  }
}
