package dev.holdfast.upstream.http;

import dev.holdfast.protocol.Body;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamSession;
import dev.holdfast.upstream.http.client.Deadline;
import dev.holdfast.upstream.http.client.HttpAnswer;
import dev.holdfast.upstream.http.client.HttpUpstreamSettings;
import dev.holdfast.upstream.http.client.McpRequests;
import dev.holdfast.upstream.http.stream.SseMessageSource;
import dev.holdfast.upstream.http.stream.StreamKind;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A session over Streamable HTTP. Its only state is the headers of its requests. */
final class HttpUpstreamSession implements UpstreamSession {

  private final McpRequests requests;

  HttpUpstreamSession(McpRequests requests) {
    this.requests = requests;
  }

  @Override
  public Answer request(Body body) {
    HttpAnswer answer = requests.post(body.bytes());
    if (answer.isEventStream()) {
      StreamKind kind = body instanceof Body.Batch ? StreamKind.BATCH : StreamKind.CALL;
      return new Answer.Stream(
          SseMessageSource.answering(kind, requests, answer.exchange(), Deadline.NEVER));
    }
    if (answer.isJson()) {
      HttpUpstreamSettings settings = requests.settings();
      return new Answer.Json(
          answer.readJson(settings.maxMessageBytes(), Deadline.after(settings.firstByteTimeout())));
    }
    throw answer.toException();
  }

  @Override
  public void send(Body messages) {
    HttpAnswer answer = requests.post(messages.bytes());
    if (!answer.isSuccess()) {
      throw answer.toException();
    }
    answer.discard();
  }

  @Override
  public Optional<MessageSource> listen(@Nullable String after) {
    return SseMessageSource.standalone(requests, after == null ? "" : after);
  }

  @Override
  public MessageSource resume(String eventId) {
    return SseMessageSource.resuming(requests, eventId);
  }

  @Override
  public void end() {
    if (!requests.hasSession()) {
      return;
    }
    try {
      requests.delete().discard();
    } catch (UpstreamException e) {
      // The request is a courtesy. A server may refuse it (405), and forgets idle sessions anyway.
    }
  }
}
