package dev.holdfast.upstream.http;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Message;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.OversizedMessage;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/** The messages of one SSE stream, over as many connections as it needs. */
final class SseMessageSource implements MessageSource {

  private static final Logger LOG = Logger.getLogger(SseMessageSource.class);

  private final StreamKind kind;
  private final Duration idleTimeout;
  private final Duration stallTimeout;
  private final StreamConnection connection;
  private final Reconnector reconnector;
  private final MessageReader reader;
  private final ByteBudget.Claim held;

  /** Deadline for the end of the stream. */
  private final Deadline latest;

  // Owned by the reading thread.
  private @Nullable HttpExchange exchange;

  /** The last message until the next one is awaited: it may be large. */
  private @Nullable UpstreamMessage last;

  /** True if the message before the awaited one was a response. */
  private boolean responded;

  /** Deadline for the next event, over all connections. */
  private Deadline quiet;

  /** The limits of a wait that has begun without a thread. */
  private @Nullable WaitLimits waiting;

  /**
   * Deadlines for the next bytes.
   *
   * @param silent after which the stream fails
   * @param stalled after which the connection counts as dead
   */
  private record WaitLimits(Deadline silent, Deadline stalled) {

    Deadline first() {
      return silent.earlier(stalled);
    }
  }

  private SseMessageSource(
      StreamKind kind,
      McpRequests requests,
      StreamConnection connection,
      String cursor,
      Consumer<String> endpointListener,
      Consumer<OversizedMessage> dropListener,
      Deadline latest) {
    this.kind = kind;
    this.connection = connection;
    this.latest = latest;
    HttpUpstreamSettings settings = requests.settings();
    held = requests.clients().held().newClaim();
    reader =
        new MessageReader(
            kind,
            settings.channel().maxMessageBytes(),
            cursor,
            endpointListener,
            dropListener,
            held);
    idleTimeout = kind.mayBeSilent() ? Duration.ZERO : settings.channel().idleTimeout();
    stallTimeout = settings.reconnection().stallTimeout();
    quiet = Deadline.ofSilence(idleTimeout);
    reconnector = new Reconnector(kind, requests, connection);
  }

  /** A stream over Streamable HTTP. */
  private SseMessageSource(StreamKind kind, McpRequests requests, String cursor, Deadline latest) {
    this(
        kind,
        requests,
        new StreamConnection(),
        cursor,
        _ -> {},
        message -> drop(kind, message, requests),
        latest);
  }

  /** Reads the stream that answers a request, until a deadline. */
  static SseMessageSource answering(
      StreamKind kind, McpRequests requests, HttpExchange exchange, Deadline latest) {
    SseMessageSource source = new SseMessageSource(kind, requests, "", latest);
    source.connection.put(exchange);
    source.exchange = exchange;
    return source;
  }

  /** Resumes the stream that answers a request, after the event with the id. */
  static MessageSource resuming(McpRequests requests, String cursor) {
    if (requests.clients().replays().showsNoReplay()) {
      throw Reconnector.noReplay(null);
    }
    return open(StreamKind.CALL, requests, cursor).orElseThrow();
  }

  /**
   * Opens the standalone stream. If the server does not know the cursor or does not replay, opens a
   * new stream without the events before. Empty when the server offers no such stream.
   */
  static Optional<MessageSource> standalone(McpRequests requests, String after) {
    String cursor = requests.clients().replays().showsNoReplay() ? "" : after;
    try {
      return open(StreamKind.STANDALONE, requests, cursor);
    } catch (UpstreamException failure) {
      if (cursor.isEmpty() || !Reconnector.meansUnknownCursor(failure)) {
        throw failure;
      }
      return open(StreamKind.STANDALONE, requests, "");
    }
  }

  private static Optional<MessageSource> open(
      StreamKind kind, McpRequests requests, String cursor) {
    SseMessageSource source = new SseMessageSource(kind, requests, cursor, Deadline.NEVER);
    source.exchange = source.reconnector.open(cursor, Deadline.NEVER).orElse(null);
    return source.exchange == null ? Optional.empty() : Optional.of(source);
  }

  /**
   * Opens the stream of an HTTP+SSE session. One listener gets the data of each {@code endpoint}
   * event; its exception ends the stream. The other gets each dropped message.
   */
  static MessageSource channel(
      McpRequests requests,
      StreamConnection connection,
      Deadline answered,
      Consumer<String> endpointListener,
      Consumer<OversizedMessage> dropListener) {
    SseMessageSource source =
        new SseMessageSource(
            StreamKind.CHANNEL,
            requests,
            connection,
            "",
            endpointListener,
            dropListener,
            Deadline.NEVER);
    source.exchange = source.reconnector.open("", answered).orElseThrow();
    return source;
  }

  /** Tells the server that a request was dropped, for which it would wait. */
  private static void drop(StreamKind kind, OversizedMessage message, McpRequests requests) {
    message.drop(
        requests.url().getHost(),
        refusal -> {
          // Without a session, no server sends requests.
          if (kind.isResumable()) {
            Thread.startVirtualThread(() -> {
              try {
                requests.post(refusal).discard();
              } catch (UpstreamException e) {
                LOG.debugf("refusal not sent: cause=%s", e.getMessage());
              }
            });
          }
        });
  }

  @Override
  public List<UpstreamMessage> take() {
    try {
      forgetLast();
      if (isAnswered()) {
        exchange = null; // Some servers keep a resumed stream open after the response.
      }
      while (exchange != null && !connection.isClosed()) {
        List<UpstreamMessage> messages = receive(exchange);
        if (!messages.isEmpty()) {
          last = messages.getLast();
          return messages;
        }
      }
      close();
      return List.of();
    } catch (UpstreamException e) {
      return fail(e);
    } catch (InterruptedException e) {
      return fail(UpstreamException.Broken.interrupted(e));
    }
  }

  private boolean isAnswered() {
    return kind.endsWithResponse() && responded;
  }

  @Override
  public List<UpstreamMessage> takeArrived() {
    forgetLast();
    // A large message would take too long on the thread of a connection.
    boolean isSmall = reader.heldBytes() < BodyQueue.LOW_WATER;
    List<byte[]> chunks =
        isSmall && exchange != null && !isAnswered() ? exchange.takeArrived() : null;
    if (chunks == null) {
      return List.of();
    }
    waiting = null;
    try {
      List<UpstreamMessage> messages = read(chunks);
      last = messages.isEmpty() ? null : messages.getLast();
      return messages;
    } catch (UpstreamException tooLarge) {
      return List.of(); // Thrown by the next take().
    }
  }

  @Override
  public boolean whenArrived(Runnable action) {
    forgetLast();
    if (exchange == null || isAnswered() || reader.hasFailed()) {
      return false;
    }
    waiting = waiting == null ? limits() : waiting;
    return exchange.whenReadable(waiting.first(), action);
  }

  private WaitLimits limits() {
    return new WaitLimits(
        Deadline.ofSilence(idleTimeout).earlier(latest), Deadline.afterUnlessZero(stallTimeout));
  }

  @Override
  public void onIdWithoutMessage(Consumer<String> listener) {
    reader.onIdWithoutMessage(listener);
  }

  @Override
  public @Nullable String firstEventId() {
    return reader.firstId();
  }

  /** Throws the failure, except after {@link #close}. */
  private List<UpstreamMessage> fail(UpstreamException failure) {
    boolean wasClosed = connection.isClosed();
    close();
    if (wasClosed) {
      return List.of();
    }
    throw failure;
  }

  private List<UpstreamMessage> receive(HttpExchange from) throws InterruptedException {
    reader.throwFailure();
    if (latest.hasPassed()) {
      throw new UpstreamException.TimedOut("its stream did not end");
    }
    WaitLimits limits = waiting == null ? limits() : waiting;
    waiting = null;
    switch (from.take(limits.first())) {
      case BodyQueue.Read.Chunks(var chunks) -> {
        return read(chunks);
      }
      case BodyQueue.Read.Broken(var cause) -> reconnect(cause);
      case BodyQueue.Read.NoBytes.COMPLETE -> reconnect(null);
      case BodyQueue.Read.NoBytes.TIMED_OUT -> leaveStalled(from, limits.silent());
      case BodyQueue.Read.NoBytes.CLOSED -> exchange = null;
    }
    return List.of();
  }

  private List<UpstreamMessage> read(List<byte[]> chunks) {
    List<UpstreamMessage> messages = reader.read(chunks);
    if (reader.eventful()) {
      quiet = Deadline.ofSilence(idleTimeout);
      reconnector.progressed();
    }
    reconnector.received(reader.eventful());
    return messages;
  }

  /** A connection can die silently: when a machine sleeps, or a router forgets it. */
  private void leaveStalled(HttpExchange from, Deadline silent) throws InterruptedException {
    if (stallTimeout.isZero() || silent.hasPassed()) {
      throw new UpstreamException.TimedOut("its stream fell silent", silent.key());
    }
    if (kind == StreamKind.SUBSCRIPTION) {
      throw new UpstreamException.TimedOut("its connection fell silent"); // It can begin again.
    }
    // Another stream that cannot be resumed keeps waiting.
    if (kind == StreamKind.STANDALONE || !reader.cursor().isEmpty()) {
      from.close();
      reconnect(new UpstreamException.TimedOut("its connection fell silent"));
    }
  }

  private void reconnect(@Nullable Throwable cause) throws InterruptedException {
    reader.connectionEnded();
    if (kind == StreamKind.BATCH && cause == null && responded) {
      exchange = null; // An orderly close after a response ends a batch.
    } else if (kind != StreamKind.STANDALONE && reader.cursor().isEmpty()) {
      if (cause != null) {
        throw new UpstreamException.Broken("cut off in the middle of a stream", cause);
      }
      exchange = null;
    } else {
      exchange = reconnector.reconnect(cause, reader, quiet.earlier(latest)).orElse(null);
    }
  }

  /** Not when it comes: a reader that has its response asks for nothing more. */
  private void forgetLast() {
    reader.forgetRead();
    if (last != null) {
      responded = (kind.endsWithResponse() || kind == StreamKind.BATCH) && isResponse(last);
      last = null;
    }
  }

  private static boolean isResponse(UpstreamMessage message) {
    try {
      return message.body().messages().getLast() instanceof Message.Response;
    } catch (EnvelopeException e) {
      return false;
    }
  }

  @Override
  public void close() {
    connection.close();
    held.close();
  }
}
