package dev.holdfast.upstream.http.stream;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.sse.SseLimitException;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.http.client.BodyRead;
import dev.holdfast.upstream.http.client.Deadline;
import dev.holdfast.upstream.http.client.HttpExchange;
import dev.holdfast.upstream.http.client.HttpUpstreamSettings;
import dev.holdfast.upstream.http.client.McpRequests;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The messages of one SSE stream, over as many connections as it takes. */
public final class SseMessageSource implements MessageSource {

  private final StreamKind kind;
  private final Duration idleTimeout;
  private final Duration stallTimeout;
  private final StreamConnection slot;
  private final Reconnector reconnector;
  private final MessageReader reader;

  /** Until when all must have come, however much the server says. */
  private final Deadline latest;

  // The reading thread's own.
  private @Nullable HttpExchange exchange;
  private @Nullable UpstreamMessage last;

  /** Until when there must be an event, over all connections. */
  private Deadline quiet;

  private SseMessageSource(
      StreamKind kind,
      McpRequests requests,
      StreamConnection slot,
      String cursor,
      Deadline latest) {
    this.kind = kind;
    this.slot = slot;
    this.latest = latest;
    HttpUpstreamSettings settings = requests.settings();
    idleTimeout = kind.mayBeSilent() ? Duration.ZERO : settings.idleTimeout();
    stallTimeout = settings.stallTimeout();
    quiet = Deadline.afterUnlessZero(idleTimeout);
    reader = new MessageReader(settings.maxMessageBytes(), cursor);
    reconnector = new Reconnector(kind, requests, slot);
  }

  /** Reads the stream that is the answer to a request, however long it takes. */
  public static SseMessageSource answering(
      StreamKind kind, McpRequests requests, HttpExchange exchange) {
    return answering(kind, requests, exchange, Deadline.NEVER);
  }

  /**
   * Reads the stream that is the answer to a request.
   *
   * @param latest until when it must have ended
   */
  public static SseMessageSource answering(
      StreamKind kind, McpRequests requests, HttpExchange exchange, Deadline latest) {
    SseMessageSource source =
        new SseMessageSource(kind, requests, new StreamConnection(), "", latest);
    source.slot.put(exchange);
    source.exchange = exchange;
    return source;
  }

  /**
   * Opens a stream.
   *
   * @param cursor the event after which it goes on; empty for a new stream
   * @return empty when the server has no such stream
   * @throws UpstreamException if it cannot be opened now
   */
  public static Optional<MessageSource> open(StreamKind kind, McpRequests requests, String cursor) {
    SseMessageSource source =
        new SseMessageSource(kind, requests, new StreamConnection(), cursor, Deadline.NEVER);
    source.exchange = source.reconnector.open(cursor, Deadline.NEVER).orElse(null);
    return source.exchange == null ? Optional.empty() : Optional.of(source);
  }

  /**
   * Opens the one stream of a session over HTTP+SSE.
   *
   * @param slot holds its connection, for others to close
   * @param latest until when the answer must have begun
   * @param endpoints told by the reading thread where to post; what it throws ends the stream
   * @throws UpstreamException if it cannot be opened
   */
  public static MessageSource channel(
      McpRequests requests, StreamConnection slot, Deadline latest, Consumer<String> endpoints) {
    SseMessageSource source =
        new SseMessageSource(StreamKind.CHANNEL, requests, slot, "", Deadline.NEVER);
    source.reader.whenEndpoint(endpoints);
    source.exchange = source.reconnector.open("", latest).orElseThrow();
    return source;
  }

  @Override
  public List<UpstreamMessage> take() {
    try {
      if (kind == StreamKind.CALL && endsWithResponse()) {
        exchange = null; // Some servers leave a resumed stream open behind the response.
      }
      while (exchange != null && !slot.isClosed()) {
        List<UpstreamMessage> messages = receive(exchange);
        if (!messages.isEmpty()) {
          last = messages.getLast();
          return messages;
        }
      }
      close();
      return List.of();
    } catch (UpstreamException e) {
      return endWith(e);
    } catch (SseLimitException e) {
      return endWith(new UpstreamException.Broken("a message is too large", e));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return endWith(new UpstreamException.Broken("the waiting thread was interrupted", e));
    }
  }

  @Override
  public void whenMoved(Consumer<String> listener) {
    reader.whenMoved(listener);
  }

  /** Whoever closed the source before wants to hear of no failure that came of it. */
  private List<UpstreamMessage> endWith(UpstreamException failure) {
    if (slot.isClosed()) {
      return List.of();
    }
    close();
    throw failure;
  }

  private List<UpstreamMessage> receive(HttpExchange from) throws InterruptedException {
    reader.throwFailure();
    if (latest.hasPassed()) {
      throw new UpstreamException.TimedOut("its stream did not end");
    }
    Deadline silent = Deadline.afterUnlessZero(idleTimeout).earlier(latest);
    switch (from.take(silent.earlier(Deadline.afterUnlessZero(stallTimeout)))) {
      case BodyRead.Chunks(var chunks) -> {
        List<UpstreamMessage> messages = reader.read(chunks);
        if (reader.eventful()) {
          quiet = Deadline.afterUnlessZero(idleTimeout);
          reconnector.progressed();
        }
        return messages;
      }
      case BodyRead.Broken(var cause) -> goOn(cause);
      case BodyRead.Nothing nothing -> {
        switch (nothing) {
          case ENDED -> goOn(null);
          case SILENT -> leaveStalled(from, silent);
          case CLOSED -> exchange = null;
        }
      }
    }
    return List.of();
  }

  /** A connection can die without a word: when a machine sleeps, or a router forgets it. */
  private void leaveStalled(HttpExchange from, Deadline silent) throws InterruptedException {
    if (stallTimeout.isZero() || silent.hasPassed()) {
      throw new UpstreamException.TimedOut("its stream fell silent");
    }
    // What cannot be resumed is better waited for.
    if (kind == StreamKind.STANDALONE || !reader.cursor().isEmpty()) {
      from.close();
      goOn(new UpstreamException.TimedOut("its connection fell silent"));
    }
  }

  private void goOn(@Nullable Throwable brokenBy) throws InterruptedException {
    reader.connectionEnded();
    if (kind == StreamKind.BATCH && brokenBy == null && endsWithResponse()) {
      exchange = null; // How many responses are missing is not known here, so the server decides.
    } else if (kind != StreamKind.STANDALONE && reader.cursor().isEmpty()) {
      if (brokenBy != null) {
        throw new UpstreamException.Broken("cut off in the middle of a stream", brokenBy);
      }
      exchange = null;
    } else {
      exchange = reconnector.reconnect(brokenBy, reader, quiet.earlier(latest)).orElse(null);
    }
  }

  private boolean endsWithResponse() {
    if (last == null) {
      return false;
    }
    try {
      return switch (Envelopes.read(last.payload())) {
        case Body.Single(Message message) -> message instanceof Message.Response;
        case Body.Batch(List<Message> messages, byte[] _) ->
            messages.getLast() instanceof Message.Response;
      };
    } catch (EnvelopeException e) {
      return false;
    }
  }

  @Override
  public void close() {
    slot.close();
  }
}
