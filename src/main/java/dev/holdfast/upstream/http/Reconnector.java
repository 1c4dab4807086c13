package dev.holdfast.upstream.http;

import dev.holdfast.retry.Backoff;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.http.HttpUpstreamSettings.Reconnection;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** Opens the connections of a stream, one after the other. For one thread. */
final class Reconnector {

  /** Between two looks for a token of the client. */
  private static final Duration TOKEN_INTERVAL = Duration.ofSeconds(1);

  private static final int MOST_EMPTY_CLOSES = 2;

  private final StreamKind kind;
  private final McpRequests requests;
  private final StreamConnection connection;
  private final Duration stallTimeout;
  private final Duration answerTimeout;
  private final ReplayRecord replays;
  private final Delays delays;

  /** True if the connection was opened after an event id and has brought nothing. */
  private boolean unanswered;

  /** Resumed connections in a row that the server closed in order, at once and without a sign. */
  private int emptyCloses;

  /** Until when the server closes the connection at once. */
  private Deadline atOnce = Deadline.NEVER;

  /** True if this stream was resumed. */
  private boolean resumed;

  /** Until when the server must resume the stream; null while it need not. */
  private @Nullable Deadline proof;

  /** {@code connection} gets each connection, so that other threads can close it. */
  Reconnector(StreamKind kind, McpRequests requests, StreamConnection connection) {
    this.kind = kind;
    this.requests = requests;
    this.connection = connection;
    Reconnection settings = requests.settings().reconnection();
    this.stallTimeout = settings.stallTimeout();
    this.answerTimeout = settings.answerTimeout();
    this.replays = requests.clients().replays();
    int attempts = kind == StreamKind.STANDALONE ? Integer.MAX_VALUE : settings.attempts();
    this.delays = new Delays(attempts, settings.maxDelay());
  }

  /** Resets the backoff: the server has sent something. */
  void progressed() {
    delays.progressed();
  }

  /** The server has sent bytes on the connection, with or without a whole event. */
  void received(boolean event) {
    emptyCloses = 0;
    if (unanswered && event) {
      resumed = true;
      // Of a standalone stream, an event may be a new one.
      if (kind != StreamKind.STANDALONE) {
        replays.record(true);
      }
    }
    unanswered = false;
  }

  /** Opens the stream once. Empty when the server offers no such stream. */
  Optional<HttpExchange> open(String cursor, Deadline latest) {
    Duration most = mustProve(cursor) ? answerTimeout : stallTimeout;
    HttpAnswer answer =
        requests.get(
            this::connect,
            cursor,
            isAsked(cursor),
            () -> latest.earlier(Deadline.afterUnlessZero(most)));
    unanswered = !cursor.isEmpty();
    atOnce = Deadline.after(answerTimeout);
    if (answer.isEventStream()) {
      answer.exchange().forgetHeaders();
      return Optional.of(answer.exchange());
    }
    if (kind == StreamKind.STANDALONE && meansNoStream(answer.status())) {
      answer.discard();
      return Optional.empty();
    }
    UpstreamException failure = answer.toException();
    throw kind != StreamKind.STANDALONE && failure instanceof UpstreamException.SessionGone
        ? new UpstreamException.SessionGone(true)
        : failure;
  }

  private HttpExchange connect() {
    HttpExchange exchange = requests.newStreamExchange();
    connection.put(exchange);
    return exchange;
  }

  /** Only the client that opens a session over HTTP+SSE waits for a stream to begin. */
  private boolean isAsked(String cursor) {
    return kind == StreamKind.CHANNEL && cursor.isEmpty();
  }

  /** Returns true if it is unknown that the server can replay what comes after the cursor. */
  private boolean mustProve(String cursor) {
    return !cursor.isEmpty() && !resumed && !replays.showsReplay();
  }

  /** 204 tells an event source to stop. A server without sessions may know no GET at all. */
  private boolean meansNoStream(int status) {
    return status == 405 || status == 204 || (status == 404 && !requests.hasSession());
  }

  /**
   * Waits and opens the stream again until that succeeds. A null cause means that the server closed
   * it in order. Empty when the stream has ended or was closed.
   *
   * <p>The server must prove that it can replay. It fails to if it twice in a row answers with a
   * stream that ends at once, or if it does not answer in time. A server that closes a stream on
   * purpose sends an event on the next connection, a comment, or when to come back.
   */
  Optional<HttpExchange> reconnect(@Nullable Throwable cause, MessageReader reader, Deadline quiet)
      throws InterruptedException {
    emptyCloses += cause == null && unanswered && !atOnce.hasPassed() ? 1 : 0;
    boolean isBroken = cause != null && replays.showsNoReplay();
    if (mustProve(reader.cursor()) && (isBroken || emptyCloses >= MOST_EMPTY_CLOSES)) {
      giveUpReplay(reader, cause);
    }
    Duration delay =
        cause == null ? delays.afterClose(reader.retry()) : afterFailure(reader, cause);
    Deadline token = Deadline.after(UpstreamException.NoToken.PATIENCE);
    while (true) {
      connection.pause(quiet.limit(delay));
      if (connection.isClosed()) {
        return Optional.empty();
      }
      requests.clients().requireOpen();
      if (quiet.hasPassed()) {
        throw new UpstreamException.TimedOut("its stream brought no event", quiet.key());
      }
      Deadline latest = quiet.earlier(proofOf(reader));
      try {
        Optional<HttpExchange> opened = open(reader.cursor(), latest);
        proof = null;
        return opened;
      } catch (UpstreamException e) {
        throwIfFinal(e, reader);
        proof = isAway(e) ? null : proof;
        delay =
            e instanceof UpstreamException.NoToken && !token.hasPassed()
                ? TOKEN_INTERVAL
                : afterFailure(reader, e);
      }
    }
  }

  private Deadline proofOf(MessageReader reader) {
    if (proof != null && proof.hasPassed()) {
      giveUpReplay(reader, null);
    }
    if (!mustProve(reader.cursor())) {
      return Deadline.NEVER;
    }
    proof = proof == null ? Deadline.after(answerTimeout.multipliedBy(2)) : proof;
    return proof;
  }

  /** The stream of a call fails. The standalone stream goes on without earlier events. */
  private void giveUpReplay(MessageReader reader, @Nullable Throwable cause) {
    proof = null;
    emptyCloses = 0;
    if (kind != StreamKind.STANDALONE) {
      replays.record(false);
      throw noReplay(cause);
    }
    reader.forgetCursor();
  }

  static UpstreamException noReplay(@Nullable Throwable cause) {
    return new UpstreamException.Broken("it gives ids to events but does not replay them", cause);
  }

  /** Returns true if a failure says nothing about the server: it was not reached, or is busy. */
  private static boolean isAway(UpstreamException failure) {
    return switch (failure) {
      case UpstreamException.Unreachable _, UpstreamException.NoToken _, UpstreamException.Busy _ ->
          true;
      case UpstreamException.Refused refused ->
          refused.status() == 429 || (refused.status() >= 502 && refused.status() <= 504);
      case UpstreamException.SessionGone _,
          UpstreamException.TimedOut _,
          UpstreamException.TooLarge _,
          UpstreamException.Broken _ ->
          false;
    };
  }

  private Duration afterFailure(MessageReader reader, Throwable failure) {
    double random = ThreadLocalRandom.current().nextDouble();
    return delays
        .afterFailure(askedDelay(reader, failure), random)
        .orElseThrow(() -> new UpstreamException.Broken("its stream cannot be resumed", failure));
  }

  private static Duration askedDelay(MessageReader reader, Throwable failure) {
    Duration retry = reader.retry();
    return failure instanceof UpstreamException.Refused refused
        ? refused.retryAfter().filter(asked -> asked.compareTo(retry) > 0).orElse(retry)
        : retry;
  }

  private void throwIfFinal(UpstreamException failure, MessageReader reader) {
    switch (failure) {
      case UpstreamException.SessionGone gone -> throw gone;
      case UpstreamException.Refused refused when kind == StreamKind.STANDALONE -> {
        if (meansUnknownCursor(refused)) {
          reader.forgetCursor(); // The server has purged earlier events; it still sends later ones.
        }
      }
      case UpstreamException.Refused refused -> {
        if (!refused.isTemporary()) {
          throw new UpstreamException.Broken("its stream is not resumed", refused);
        }
      }
      case UpstreamException.Unreachable _,
          UpstreamException.NoToken _,
          UpstreamException.Busy _,
          UpstreamException.TimedOut _,
          UpstreamException.TooLarge _,
          UpstreamException.Broken _ -> {}
    }
  }

  /**
   * Returns true if the server does not know the cursor (400), has purged the events after it
   * (410), or does not answer because of it.
   */
  static boolean meansUnknownCursor(UpstreamException failure) {
    return failure instanceof UpstreamException.TimedOut
        || (failure instanceof UpstreamException.Refused refused
            && (refused.status() == 400 || refused.status() == 410));
  }

  /** The delays before new connections. */
  static final class Delays {

    private static final Duration SHORTEST = Duration.ofMillis(50);

    /** Upper bound of the random part of a delay: streams often break at the same time. */
    private static final double JITTER = 0.2;

    /** After connections that broke or could not be made. */
    private Backoff failures;

    /** After connections that the server closed without an event. */
    private Backoff closes = new Backoff(SHORTEST, Duration.ofSeconds(1));

    private boolean closed;

    /** Gives up after some failures in a row. Delays have an upper bound, without jitter. */
    Delays(int limit, Duration longest) {
      failures = new Backoff(SHORTEST, longest, limit, 0);
    }

    /** The server has sent something. */
    void progressed() {
      failures = failures.reset();
      closes = closes.reset();
      closed = false;
    }

    /**
     * The delay after an orderly close. A server may close a stream on purpose and as often as it
     * likes (MCP 2025-11-25, Transports), so a close is no failure. The first delay is what the
     * server asks for. Later delays grow to a second, for servers that ask for none.
     */
    Duration afterClose(Duration retry) {
      Duration delay = retry;
      if (closed) {
        delay = Collections.max(List.of(retry, closes.delay()));
        closes = closes.next();
      }
      closed = true;
      failures = failures.reset();
      return Collections.min(List.of(delay, failures.longest()));
    }

    /**
     * The delay after a connection broke or could not be made. Empty when the stream gives up.
     * {@code random} from 0 to 1 spreads the attempts of many streams.
     */
    Optional<Duration> afterFailure(Duration retry, double random) {
      if (failures.isExhausted()) {
        return Optional.empty();
      }
      Duration delay = failures.delay(retry);
      failures = failures.next();
      return Optional.of(delay.plusNanos((long) (delay.toNanos() * JITTER * random)));
    }
  }
}
