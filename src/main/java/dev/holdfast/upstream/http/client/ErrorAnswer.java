package dev.holdfast.upstream.http.client;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonLines;
import dev.holdfast.protocol.Message;
import dev.holdfast.upstream.UpstreamException;
import java.time.Duration;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Makes an exception of an answer that is not the one that was asked for. */
public final class ErrorAnswer {

  /** How much of the body is read in search of a JSON-RPC error. */
  private static final int MAX_ERROR_BYTES = 64 * 1024;

  private static final Duration MAX_ERROR_TIME = Duration.ofSeconds(5);

  private static final Pattern SECONDS = Pattern.compile("\\d{1,9}");

  private ErrorAnswer() {}

  /**
   * Judges the answer and closes the exchange.
   *
   * @param inSession whether the request named a session; only then does 404 tell of its end
   */
  public static UpstreamException of(
      HttpExchange exchange, HttpExchange.Head head, boolean inSession) {
    int status = head.status();
    if (status == 404 && inSession) {
      exchange.finish();
      return new UpstreamException.SessionGone();
    }
    if (status >= 400 && status <= 599) {
      Duration retryAfter = seconds(head.header("Retry-After"));
      return new UpstreamException.Refused(status, readError(exchange, head), retryAfter);
    }
    exchange.close();
    return new UpstreamException.Broken(
        "status " + status + " with content of type \"" + printable(head.mediaType()) + "\"", null);
  }

  /** RFC 9110, section 10.2.3; a date is as good as nothing, since clocks differ. */
  private static @Nullable Duration seconds(@Nullable String header) {
    return header != null && SECONDS.matcher(header).matches()
        ? Duration.ofSeconds(Long.parseLong(header))
        : null;
  }

  private static byte @Nullable [] readError(HttpExchange exchange, HttpExchange.Head head) {
    if (!head.mediaType().equals(McpRequests.JSON)) {
      exchange.finish();
      return null;
    }
    try {
      byte[] body = exchange.readAll(MAX_ERROR_BYTES, Deadline.after(MAX_ERROR_TIME));
      return Envelopes.read(body) instanceof Body.Single(Message.Response response)
              && response.error()
          ? JsonLines.singleLine(body)
          : null;
    } catch (UpstreamException | EnvelopeException e) {
      return null; // The status says enough.
    }
  }

  private static String printable(String mediaType) {
    return mediaType.length() <= 64 && HeaderValues.isSendable(mediaType) ? mediaType : "?";
  }
}
