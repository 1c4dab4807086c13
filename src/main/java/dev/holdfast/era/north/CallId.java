package dev.holdfast.era.north;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.LogLevels;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import java.util.Base64;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * The id of a request in a session that several clients share. It contains what any replica needs
 * to translate the answer, among it the id that the client chose.
 *
 * @param random tells requests apart
 * @param logLevel the level of the log messages that the client wants; empty for none
 * @param digest digest of the parameters, in Base64; empty if no retry can need it
 */
record CallId(String random, String logLevel, String digest) {

  private static final int RADIX = Character.MAX_RADIX;

  static CallId of(StatelessRequest request) {
    String level = request.logLevel();
    return new CallId(
        Long.toString(ThreadLocalRandom.current().nextLong() >>> 2, RADIX),
        level == null || !LogLevels.isKnown(level) ? "" : level,
        Base64.getUrlEncoder().withoutPadding().encodeToString(request.digest()));
  }

  /** Reads what {@link #inSession} returned; empty for another id. */
  static Optional<CallId> parse(String inSession) {
    String text = JsonEdit.text(inSession);
    String[] parts = text == null ? new String[0] : text.split(":", 4);
    return parts.length == 4
        ? Optional.of(new CallId(parts[0], parts[1], parts[2]))
        : Optional.empty();
  }

  /**
   * Returns the id of a request in the session.
   *
   * @throws StatelessException if the client's id is too long
   */
  RequestId inSession(Message.Request request) {
    String text = String.join(":", random, logLevel, digest, request.id().json());
    return new RequestId(quoted(text, "id"));
  }

  /** Returns the progress token in the session; null if the client has none. Throws as above. */
  @Nullable String tokenInSession(Message.Request request) {
    String token = request.progressToken();
    return token == null ? null : quoted(String.join(":", random, "", "", token), "progressToken");
  }

  private static String quoted(String text, String what) {
    String quoted = JsonEdit.quote(text);
    if (quoted.getBytes(UTF_8).length > Envelopes.MAX_FIELD_BYTES) {
      throw new StatelessException(
          400, JsonRpcErrorCode.INVALID_REQUEST, "Invalid Request: " + what + " is too long", null);
    }
    return quoted;
  }

  /**
   * The client's own id or token, as raw JSON; null if the text in the session has another form.
   */
  static @Nullable String ofClient(@Nullable String inSession) {
    String text = JsonEdit.text(inSession);
    String[] parts = text == null ? new String[0] : text.split(":", 4);
    return parts.length == 4 ? parts[3] : null;
  }
}
