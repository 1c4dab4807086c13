package dev.holdfast.upstream.http.stream;

import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.http.client.Deadline;
import dev.holdfast.upstream.http.client.ErrorAnswer;
import dev.holdfast.upstream.http.client.HttpExchange;
import dev.holdfast.upstream.http.client.HttpUpstreamSettings;
import dev.holdfast.upstream.http.client.McpRequests;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** Opens a stream, and opens it again whenever it comes to an untimely end. For one thread. */
public final class Reconnector {

  private final StreamKind kind;
  private final McpRequests requests;
  private final StreamConnection slot;
  private final Duration stallTimeout;
  private ReconnectPolicy policy;

  /**
   * @param slot where each connection is kept, for others to close
   */
  public Reconnector(StreamKind kind, McpRequests requests, StreamConnection slot) {
    this.kind = kind;
    this.requests = requests;
    this.slot = slot;
    HttpUpstreamSettings settings = requests.settings();
    this.stallTimeout = settings.stallTimeout();
    this.policy =
        kind == StreamKind.STANDALONE
            ? ReconnectPolicy.endless(settings.maxRetryDelay())
            : ReconnectPolicy.limited(settings.resumeAttempts(), settings.maxRetryDelay());
  }

  /** Notes that the stream works. */
  void progressed() {
    policy = policy.afterProgress();
  }

  /**
   * Opens the stream once.
   *
   * @param cursor the event after which it goes on; empty for a new stream
   * @param latest until when it must be open
   * @return empty when the server has no such stream
   * @throws UpstreamException if it cannot be opened now
   */
  Optional<HttpExchange> open(String cursor, Deadline latest) {
    HttpExchange exchange = requests.exchange();
    slot.put(exchange);
    Deadline answered = latest.earlier(Deadline.afterUnlessZero(stallTimeout));
    HttpExchange.Head head = requests.get(exchange, cursor, answered);
    if (head.isEventStream()) {
      return Optional.of(exchange);
    }
    if (kind == StreamKind.STANDALONE && saysNoStream(head.status())) {
      exchange.finish();
      return Optional.empty();
    }
    throw ErrorAnswer.of(exchange, head, requests.hasSession());
  }

  /** A server without sessions may know no GET at all; for an event source 204 means to stop. */
  private boolean saysNoStream(int status) {
    return status == 405 || status == 204 || (status == 404 && !requests.hasSession());
  }

  /**
   * Waits as long as it should and opens the stream again, until that succeeds.
   *
   * @param brokenBy what the connection died of; null when the server closed it in order
   * @param reader knows where to go on and what the server asks for
   * @param quiet until when the stream must have brought an event
   * @return empty when there is nothing more to come, or the slot was closed
   * @throws UpstreamException when it is given up
   */
  Optional<HttpExchange> reconnect(
      @Nullable Throwable brokenBy, MessageReader reader, Deadline quiet)
      throws InterruptedException {
    ReconnectPolicy.Attempt attempt =
        brokenBy == null ? policy.afterClose(reader.retry()) : afterFailure(reader, brokenBy);
    while (true) {
      policy = attempt.next();
      slot.pause(quiet.limit(attempt.delay()));
      if (slot.isClosed()) {
        return Optional.empty();
      }
      requests.requireOpen();
      if (quiet.hasPassed()) {
        throw new UpstreamException.TimedOut("its stream brought no event");
      }
      try {
        return open(reader.cursor(), quiet);
      } catch (UpstreamException e) {
        throwIfFinal(e, reader);
        attempt = afterFailure(reader, e);
      }
    }
  }

  private ReconnectPolicy.Attempt afterFailure(MessageReader reader, Throwable failure) {
    double random = ThreadLocalRandom.current().nextDouble();
    return policy
        .afterFailure(wait(reader, failure), random)
        .orElseThrow(() -> new UpstreamException.Broken("its stream cannot be resumed", failure));
  }

  private static Duration wait(MessageReader reader, Throwable failure) {
    Duration retry = reader.retry();
    return failure instanceof UpstreamException.Refused refused
        ? refused.retryAfter().filter(asked -> asked.compareTo(retry) > 0).orElse(retry)
        : retry;
  }

  private void throwIfFinal(UpstreamException failure, MessageReader reader) {
    switch (failure) {
      case UpstreamException.SessionGone gone -> throw gone;
      case UpstreamException.Refused refused when kind == StreamKind.STANDALONE -> {
        if (saysForgotten(refused)) {
          reader.forgetCursor(); // What the server has forgotten is lost; what is new is not.
        }
      }
      case UpstreamException.Refused refused -> {
        if (!mayPass(refused.status())) {
          throw new UpstreamException.Broken("its stream is not resumed", refused);
        }
      }
      case UpstreamException.Unreachable _ -> {}
      case UpstreamException.Busy _ -> {}
      case UpstreamException.TimedOut _ -> {}
      case UpstreamException.Broken _ -> {}
    }
  }

  /** Whether the server does not know the cursor (400), or has purged what follows it (410). */
  public static boolean saysForgotten(UpstreamException.Refused refused) {
    return refused.status() == 400 || refused.status() == 410;
  }

  /** Among them 409: the server has not noticed yet that the old connection is dead. */
  private static boolean mayPass(int status) {
    return status >= 500 || status == 408 || status == 409 || status == 425 || status == 429;
  }
}
