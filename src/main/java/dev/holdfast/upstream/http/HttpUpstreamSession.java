package dev.holdfast.upstream.http;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonLines;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamSession;
import dev.holdfast.upstream.http.client.Deadline;
import dev.holdfast.upstream.http.client.ErrorAnswer;
import dev.holdfast.upstream.http.client.HttpExchange;
import dev.holdfast.upstream.http.client.HttpUpstreamSettings;
import dev.holdfast.upstream.http.client.McpRequests;
import dev.holdfast.upstream.http.stream.Reconnector;
import dev.holdfast.upstream.http.stream.SseMessageSource;
import dev.holdfast.upstream.http.stream.StreamKind;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One session with a server behind HTTP. It is nothing but the headers of its requests. */
final class HttpUpstreamSession implements UpstreamSession {

  private final McpRequests requests;

  HttpUpstreamSession(McpRequests requests) {
    this.requests = requests;
  }

  @Override
  public Answer request(Body body) {
    HttpExchange exchange = requests.exchange();
    HttpExchange.Head head = requests.post(exchange, body.bytes());
    if (head.isEventStream()) {
      StreamKind kind = body instanceof Body.Batch ? StreamKind.BATCH : StreamKind.CALL;
      return new Answer.Stream(SseMessageSource.answering(kind, requests, exchange));
    }
    if (head.isJson()) {
      return new Answer.Json(readJson(requests.settings(), exchange));
    }
    throw ErrorAnswer.of(exchange, head, requests.hasSession());
  }

  /** Reads an answer that is one document, and closes the exchange. */
  static byte[] readJson(HttpUpstreamSettings settings, HttpExchange exchange) {
    Deadline ended = Deadline.after(settings.firstByteTimeout());
    byte[] json = exchange.readAll(settings.maxMessageBytes(), ended);
    try {
      Envelopes.read(json);
      return JsonLines.singleLine(json);
    } catch (EnvelopeException e) {
      throw new UpstreamException.Broken("not JSON-RPC", e);
    }
  }

  @Override
  public void send(Body messages) {
    HttpExchange exchange = requests.exchange();
    HttpExchange.Head head = requests.post(exchange, messages.bytes());
    if (head.status() < 200 || head.status() > 299) {
      throw ErrorAnswer.of(exchange, head, requests.hasSession());
    }
    exchange.finish();
  }

  @Override
  public Optional<MessageSource> listen(@Nullable String after) {
    if (after != null) {
      try {
        return SseMessageSource.open(StreamKind.STANDALONE, requests, after);
      } catch (UpstreamException.Refused refused) {
        if (!Reconnector.saysForgotten(refused)) {
          throw refused;
        }
        // What the server has forgotten is lost; what is new is not.
      }
    }
    return SseMessageSource.open(StreamKind.STANDALONE, requests, "");
  }

  @Override
  public MessageSource resume(String eventId) {
    return SseMessageSource.open(StreamKind.CALL, requests, eventId).orElseThrow();
  }

  @Override
  public void end() {
    if (!requests.hasSession()) {
      return;
    }
    HttpExchange exchange = requests.exchange();
    try {
      requests.delete(exchange);
      exchange.finish();
    } catch (UpstreamException e) {
      // It was a courtesy: a server may refuse it (405), and forgets idle sessions anyway.
    }
  }
}
