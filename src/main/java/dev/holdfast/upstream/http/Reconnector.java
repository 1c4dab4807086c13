package dev.holdfast.upstream.http;

import dev.holdfast.retry.Backoff;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.http.HttpUpstreamSettings.Reconnection;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** Opens the connections of a stream, one after the other. For one thread. */
final class Reconnector {

  /** Between two looks for a token of the client. */
  private static final Duration TOKEN_INTERVAL = Duration.ofSeconds(1);

  private final StreamKind kind;
  private final McpRequests requests;
  private final StreamConnection connection;
  private final Duration stallTimeout;
  private ReconnectPolicy policy;

  /** {@code connection} gets each connection, so that other threads can close it. */
  Reconnector(StreamKind kind, McpRequests requests, StreamConnection connection) {
    this.kind = kind;
    this.requests = requests;
    this.connection = connection;
    Reconnection settings = requests.settings().reconnection();
    this.stallTimeout = settings.stallTimeout();
    this.policy =
        kind == StreamKind.STANDALONE
            ? ReconnectPolicy.endless(settings.maxDelay())
            : ReconnectPolicy.limited(settings.attempts(), settings.maxDelay());
  }

  /** Resets the backoff: the server has sent something. */
  void progressed() {
    policy = policy.afterProgress();
  }

  /** Opens the stream once. Empty when the server offers no such stream. */
  Optional<HttpExchange> open(String cursor, Deadline latest) {
    HttpAnswer answer =
        requests.get(
            this::connect,
            cursor,
            isAsked(cursor),
            () -> latest.earlier(Deadline.afterUnlessZero(stallTimeout)));
    if (answer.isEventStream()) {
      return Optional.of(answer.exchange());
    }
    if (kind == StreamKind.STANDALONE && meansNoStream(answer.status())) {
      answer.discard();
      return Optional.empty();
    }
    throw answer.toException();
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

  /** 204 tells an event source to stop. A server without sessions may know no GET at all. */
  private boolean meansNoStream(int status) {
    return status == 405 || status == 204 || (status == 404 && !requests.hasSession());
  }

  /**
   * Waits and opens the stream again until that succeeds. A null cause means that the server closed
   * it in order. Empty when the stream has ended or was closed.
   */
  Optional<HttpExchange> reconnect(@Nullable Throwable cause, MessageReader reader, Deadline quiet)
      throws InterruptedException {
    ReconnectPolicy.Attempt attempt =
        cause == null ? policy.afterClose(reader.retry()) : afterFailure(reader, cause);
    Deadline token = Deadline.after(UpstreamException.NoToken.PATIENCE);
    while (true) {
      policy = attempt.next();
      connection.pause(quiet.limit(attempt.delay()));
      if (connection.isClosed()) {
        return Optional.empty();
      }
      requests.clients().requireOpen();
      if (quiet.hasPassed()) {
        throw new UpstreamException.TimedOut("its stream brought no event", quiet.key());
      }
      try {
        return open(reader.cursor(), quiet);
      } catch (UpstreamException e) {
        throwIfFinal(e, reader);
        attempt =
            e instanceof UpstreamException.NoToken && !token.hasPassed()
                ? new ReconnectPolicy.Attempt(TOKEN_INTERVAL, policy)
                : afterFailure(reader, e);
      }
    }
  }

  private ReconnectPolicy.Attempt afterFailure(MessageReader reader, Throwable failure) {
    double random = ThreadLocalRandom.current().nextDouble();
    return policy
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
        if (!isTemporary(refused.status())) {
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

  /** Whether the server does not know the cursor (400), or has purged the events after it (410). */
  static boolean meansUnknownCursor(UpstreamException.Refused refused) {
    return refused.status() == 400 || refused.status() == 410;
  }

  /** 409 is temporary: the server has not noticed yet that the old connection is dead. */
  private static boolean isTemporary(int status) {
    return status >= 500 || status == 408 || status == 409 || status == 425 || status == 429;
  }

  /**
   * Decides when a stream connects again, and when it gives up. Immutable: each attempt carries the
   * policy for the next one.
   *
   * @param failures backoff of connections that broke or could not be made
   * @param closes backoff of connections that the server closed without an event; null before the
   *     first such close
   */
  record ReconnectPolicy(Backoff failures, @Nullable Backoff closes) {

    private static final Duration SHORTEST = Duration.ofMillis(50);
    private static final Backoff AFTER_CLOSE = new Backoff(SHORTEST, Duration.ofSeconds(1));

    /** Upper bound of the random part of a delay: streams often break at the same time. */
    private static final double JITTER = 0.2;

    /** The next connection, after a delay. */
    record Attempt(Duration delay, ReconnectPolicy next) {}

    /** Gives up after some failures in a row. Delays have an upper bound, without jitter. */
    static ReconnectPolicy limited(int limit, Duration maxDelay) {
      return new ReconnectPolicy(new Backoff(SHORTEST, maxDelay, limit, 0), null);
    }

    static ReconnectPolicy endless(Duration maxDelay) {
      return limited(Integer.MAX_VALUE, maxDelay);
    }

    /** The policy after the server has sent something. */
    ReconnectPolicy afterProgress() {
      return new ReconnectPolicy(failures.reset(), null);
    }

    /**
     * The attempt after an orderly close. A server may close a stream on purpose and as often as it
     * likes (MCP 2025-11-25, Transports), so a close is no failure. The first delay is what the
     * server asks for. Later delays grow to a second, for servers that ask for none.
     */
    Attempt afterClose(Duration retry) {
      Duration slowed = closes == null ? Duration.ZERO : closes.delay();
      Duration delay = retry.compareTo(slowed) > 0 ? retry : slowed;
      Duration bounded = delay.compareTo(failures.longest()) < 0 ? delay : failures.longest();
      Backoff later = closes == null ? AFTER_CLOSE : closes.next();
      return new Attempt(bounded, new ReconnectPolicy(failures.reset(), later));
    }

    /**
     * The attempt after a connection broke or could not be made. Empty when the stream gives up.
     * {@code random} from 0 to 1 spreads the attempts of many streams.
     */
    Optional<Attempt> afterFailure(Duration retry, double random) {
      if (failures.isExhausted()) {
        return Optional.empty();
      }
      Duration delay = failures.delay(retry);
      Duration spread = Duration.ofNanos((long) (delay.toNanos() * JITTER * random));
      return Optional.of(
          new Attempt(delay.plus(spread), new ReconnectPolicy(failures.next(), closes)));
    }
  }
}
