package dev.holdfast.upstream.http;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Utf8;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import io.vertx.core.http.HttpClientResponse;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An answer of the server: its status, its headers and its unread body.
 *
 * @param held counts the bytes of bodies that are read
 * @param inSession whether the request named a session; a 404 then means that it is gone
 * @param clientHeaders names of the client's headers that the request had
 * @param asClient whether the request had the token of the client, so that a challenge is for it
 */
record HttpAnswer(
    HttpExchange exchange,
    HttpClientResponse head,
    ByteBudget held,
    boolean inSession,
    List<String> clientHeaders,
    boolean asClient) {

  static final String JSON = "application/json";
  static final String EVENT_STREAM = "text/event-stream";

  /** Bounds of a body that is read only to keep the connection. */
  private static final int MAX_IGNORED_BYTES = 64 * 1024;

  private static final Duration MAX_IGNORED_TIME = Duration.ofSeconds(1);

  /** Bounds of a body that may be a JSON-RPC error. */
  private static final int MAX_ERROR_BYTES = 64 * 1024;

  private static final Duration MAX_ERROR_TIME = Duration.ofSeconds(5);

  private static final int MAX_CHALLENGE = 2048;

  private static final Pattern SECONDS = Pattern.compile("\\d{1,9}");
  private static final Pattern LENGTH = Pattern.compile("\\d{1,18}");

  int status() {
    return head.statusCode();
  }

  boolean isSuccess() {
    return status() >= 200 && status() <= 299;
  }

  boolean isEventStream() {
    return status() == 200 && mediaType().equals(EVENT_STREAM);
  }

  boolean isJson() {
    return status() == 200 && mediaType().equals(JSON);
  }

  @Nullable String header(String name) {
    return head.getHeader(name);
  }

  /** The values of {@code WWW-Authenticate}. */
  List<String> challenges() {
    return head.headers().getAll("WWW-Authenticate");
  }

  private String mediaType() {
    String type = head.getHeader("Content-Type");
    return type == null ? "" : type.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
  }

  /** Reads a JSON-RPC body onto one line and closes the exchange. */
  Answer.Json readJson(int maxBytes, Deadline deadline) {
    ByteBudget.Claim claim = held.newClaim();
    try {
      UpstreamMessage json =
          new UpstreamMessage(Utf8.singleLine(readAll(maxBytes, deadline, claim)), null);
      json.body();
      return new Answer.Json(json, claim::close);
    } catch (EnvelopeException e) {
      claim.close();
      throw new UpstreamException.Broken("not JSON-RPC", e);
    } catch (Throwable failure) {
      claim.close();
      throw failure;
    }
  }

  private byte[] readAll(int maxBytes, Deadline deadline) {
    try (ByteBudget.Claim claim = held.newClaim()) {
      return readAll(maxBytes, deadline, claim);
    }
  }

  private byte[] readAll(int maxBytes, Deadline deadline, ByteBudget.Claim claim) {
    ByteArrayOutputStream whole = new ByteArrayOutputStream();
    try (exchange) {
      while (true) {
        switch (exchange.take(deadline)) {
          case BodyQueue.Read.Chunks(var chunks) -> {
            for (byte[] chunk : chunks) {
              long size = (long) whole.size() + chunk.length;
              if (size > maxBytes || !claim.set(size)) {
                throw tooLarge(size, maxBytes);
              }
              whole.writeBytes(chunk);
            }
          }
          case BodyQueue.Read.Broken(var cause) ->
              throw new UpstreamException.Broken("cut off in the middle", cause);
          case BodyQueue.Read.NoBytes.COMPLETE -> {
            return whole.toByteArray();
          }
          case BodyQueue.Read.NoBytes.TIMED_OUT ->
              throw new UpstreamException.TimedOut("its answer did not end", deadline.key());
          case BodyQueue.Read.NoBytes.CLOSED ->
              throw new UpstreamException.Broken("the exchange was closed", null);
        }
      }
    }
  }

  private UpstreamException tooLarge(long received, int maxBytes) {
    String length = head.getHeader("Content-Length");
    return length != null && LENGTH.matcher(length).matches()
        ? new UpstreamException.TooLarge(Long.parseLong(length), true, maxBytes)
        : new UpstreamException.TooLarge(received, false, maxBytes);
  }

  /** Closes the exchange. Reads a small body to its end first, to keep the connection. */
  void discard() {
    try {
      var _ = readAll(MAX_IGNORED_BYTES, Deadline.after(MAX_IGNORED_TIME));
    } catch (UpstreamException e) {
      // The status is the answer. A bad body only costs the connection.
    }
  }

  /** Closes the exchange of an unexpected answer, and returns an exception for it. */
  UpstreamException toException() {
    if (status() == 404 && inSession) {
      discard();
      return new UpstreamException.SessionGone();
    }
    if (status() >= 400 && status() <= 599) {
      return new UpstreamException.Refused(
          status(), readError(), retryAfter(), clientHeaders, challenge());
    }
    exchange.close();
    String type = mediaType();
    String shown = type.length() <= 64 && HeaderValues.isSendable(type) ? type : "?";
    return new UpstreamException.Broken(
        "status " + status() + " with content of type \"" + shown + "\"", null);
  }

  /** RFC 9110, section 10.2.3. Dates are ignored, because clocks differ. */
  private @Nullable Duration retryAfter() {
    String value = head.getHeader("Retry-After");
    return value != null && SECONDS.matcher(value).matches()
        ? Duration.ofSeconds(Long.parseLong(value))
        : null;
  }

  /**
   * Demands that the client must meet to be let in (RFC 9110, section 11.6.1); null for nothing.
   */
  private @Nullable String challenge() {
    if (!asClient || !UpstreamException.Refused.isAboutCredentials(status())) {
      return null;
    }
    String value = String.join(", ", challenges());
    return !value.isEmpty() && value.length() <= MAX_CHALLENGE && HeaderValues.isAscii(value)
        ? value
        : null;
  }

  private byte @Nullable [] readError() {
    if (!mediaType().equals(JSON)) {
      discard();
      return null;
    }
    try {
      byte[] body = readAll(MAX_ERROR_BYTES, Deadline.after(MAX_ERROR_TIME));
      return Envelopes.read(body) instanceof Body.Single(Message.Response response)
              && response.error()
          ? Utf8.singleLine(body)
          : null;
    } catch (UpstreamException | EnvelopeException e) {
      return null; // The status is enough.
    }
  }
}
