package dev.holdfast.relay.failover;

import dev.holdfast.audit.AuditLog;
import dev.holdfast.budget.LogRate;
import dev.holdfast.call.SessionId;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogException;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.Position;
import dev.holdfast.log.SharedLog;
import dev.holdfast.log.StreamRef;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.pump.Pump;
import dev.holdfast.relay.pump.StandaloneSource;
import dev.holdfast.relay.pump.UpstreamErrors;
import dev.holdfast.relay.pump.UpstreamRequest;
import dev.holdfast.relay.routing.MessageRouter;
import dev.holdfast.relay.routing.PinnedSessions;
import dev.holdfast.relay.routing.StreamStarter;
import dev.holdfast.relay.session.PinnedServer;
import dev.holdfast.relay.session.SessionUpstreams;
import dev.holdfast.relay.session.Sessions;
import dev.holdfast.relay.stream.PendingRequests;
import dev.holdfast.relay.stream.RelayListener;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.relay.stream.TraceListener;
import dev.holdfast.retry.Backoff;
import dev.holdfast.session.Session;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamSession;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Takes over the streams of a lost replica: each gets a pump on this replica. If the upstream can
 * resume a stream, it continues: the log has the upstream's id of the last event, and the upstream
 * sends later events again. Every other call ends with an error: its outcome is unknown.
 *
 * <p>Thread-safe, but callers must not call {@link #takeOver} for one session twice at once: both
 * calls could claim with the same fence, and each stream would get two pumps. {@link #reclaim} may
 * run at the same time: the log decides which call gets a stream. A reclaimed stream has a new
 * fence, so the log refuses what an older pump of that stream appends.
 */
public final class TakeOver {

  private static final Logger LOG = Logger.getLogger(TakeOver.class);
  private static final LogRate TAKEN_OVER = new LogRate(Duration.ofMillis(100));

  /** Streams that this replica opens at one upstream at a time. */
  private static final int CONCURRENT_OPENINGS = 256;

  private static final Backoff FIRST_WAIT =
      new Backoff(Duration.ofMillis(100), Duration.ofSeconds(1), 5, 0);

  /** After the last event of any stream. */
  private static final Position END = new Position(Long.MAX_VALUE, Long.MAX_VALUE);

  private final Sessions sessions;
  private final SessionUpstreams upstreams;
  private final EventLog log;
  private final SharedLog shared;
  private final MessageRouter router;
  private final StreamStarter starter;
  private final PinnedSessions pinned;
  private final Observers observers;

  /** By upstream, so that a slow one does not delay the others. */
  private final Map<String, Semaphore> openings = new ConcurrentHashMap<>();

  /**
   * Parts that hear of adopted streams.
   *
   * @param upstreamStreams gets adopted streams that an upstream itself writes
   * @param traces null while traces are off
   */
  public record Observers(
      Consumer<SharedLog.AdoptedStream> upstreamStreams,
      RelayListener listener,
      AuditLog audit,
      @Nullable TraceListener traces) {}

  /** Creates the service. */
  public TakeOver(
      Sessions sessions,
      SessionUpstreams upstreams,
      EventLog log,
      SharedLog shared,
      MessageRouter router,
      StreamStarter starter,
      PinnedSessions pinned,
      Observers observers) {
    this.sessions = sessions;
    this.upstreams = upstreams;
    this.log = log;
    this.shared = shared;
    this.router = router;
    this.starter = starter;
    this.pinned = pinned;
    this.observers = observers;
  }

  /**
   * Takes over the streams that a lost replica owns in one session. When this returns, this replica
   * owns them and their pumps are started. A session that has ended is skipped.
   *
   * @throws LogException.StoreUnavailable when the log is away; the caller tries again, here or on
   *     another replica
   * @throws dev.holdfast.session.SessionStoreException when the session store is away; likewise
   */
  public void takeOver(LogKey key, String lostReplica) {
    startPumps(
        key,
        found -> {
          List<SharedLog.AdoptedStream> adopted = shared.adopt(key, lostReplica);
          if (!adopted.isEmpty()) {
            observers.audit().sessionResumed(found, "its replica was lost");
          }
          return adopted;
        });
  }

  /** Reclaims streams that this replica owns but does not write. Throws as takeOver does. */
  void reclaim(LogKey key, Set<String> names) {
    LOG.warnf(
        "streams without a writer streams=%s",
        names.stream().map(name -> new StreamRef(key, name)).toList());
    startPumps(key, _ -> shared.reclaim(key, names));
  }

  private void startPumps(LogKey key, Function<Session, List<SharedLog.AdoptedStream>> adopt) {
    Optional<Session> found = SessionId.parse(key.value()).flatMap(sessions::peek);
    if (found.isEmpty()) {
      // The replica that ended the session may have been lost before it ended the log.
      log.end(key);
      return;
    }
    Session session = found.get();
    UpstreamSession upstream = upstreams.attach(session);
    Semaphore permits =
        openings.computeIfAbsent(session.upstream(), _ -> new Semaphore(CONCURRENT_OPENINGS));
    List<SharedLog.AdoptedStream> adopted = adopt.apply(session);
    adopted.stream()
        .filter(stream -> !stream.requests().isEmpty())
        .forEach(
            stream -> observers.listener().calls().takenOver(stream.stream(), stream.requests()));
    if (upstreams.isPinned(session)) {
      continuePinned(session, adopted, upstream, permits);
      return;
    }
    // Before the pumps start, so that no cancelled call is resumed.
    router.collect(key);
    for (SharedLog.AdoptedStream stream : adopted) {
      trace(stream, () -> startPump(session, stream, upstream, permits));
    }
  }

  private void trace(SharedLog.AdoptedStream stream, Runnable start) {
    TraceListener traces = observers.traces();
    if (traces == null) {
      start.run();
    } else {
      traces.takeOver(stream.stream(), start);
    }
  }

  private void startPump(
      Session session,
      SharedLog.AdoptedStream stream,
      UpstreamSession upstream,
      Semaphore permits) {
    if (isStandalone(stream)) {
      takenOver(stream, true);
      starter.startListening(
          session,
          stream.writer(),
          last -> withPermit(() -> upstream.listen(last), permits),
          stream.upstreamId());
    } else {
      List<RequestId> requests = unanswered(stream);
      start(session, stream, requests, () -> resume(session, stream, requests, upstream, permits));
    }
  }

  private void takenOver(SharedLog.AdoptedStream stream, boolean resumed) {
    observers.listener().takenOver(resumed);
    Logger.Level level = resumed ? Logger.Level.INFO : Logger.Level.WARN;
    TAKEN_OVER.log(
        LOG,
        level,
        () -> "stream taken over stream=%s resumed=%s".formatted(stream.stream(), resumed));
  }

  private static boolean isWrittenByUpstream(SharedLog.AdoptedStream stream) {
    return stream.stream().name().startsWith(StreamNames.UPSTREAM_PREFIX);
  }

  private static boolean isStandalone(SharedLog.AdoptedStream stream) {
    return stream.stream().name().equals(StreamNames.STANDALONE);
  }

  /**
   * The server was lost with its replica, and so were the calls. The session may continue, and so
   * may calls of another server of the session, which can be resumed.
   */
  private void continuePinned(
      Session session,
      List<SharedLog.AdoptedStream> all,
      UpstreamSession upstream,
      Semaphore permits) {
    all.stream().filter(TakeOver::isWrittenByUpstream).forEach(observers.upstreamStreams());
    List<SharedLog.AdoptedStream> adopted =
        all.stream().filter(Predicate.not(TakeOver::isWrittenByUpstream)).toList();
    // The session first: a client that learns of a lost call may send the next one at once.
    for (SharedLog.AdoptedStream stream : adopted) {
      if (isStandalone(stream)) {
        PinnedServer server = upstreams.server(session);
        takenOver(stream, server.canReopen());
        trace(stream, () -> pinned.pin(stream.writer(), server, true, stream.upstreamId()));
      }
    }
    for (SharedLog.AdoptedStream stream : adopted) {
      if (!isStandalone(stream)) {
        trace(stream, () -> startPump(session, stream, upstream, permits));
      }
    }
    // Only now: the inbox messages are for the replica to which the session is pinned.
    router.collect(StreamNames.key(session.id()));
  }

  private void start(
      Session session,
      SharedLog.AdoptedStream adopted,
      List<RequestId> requests,
      UpstreamRequest request) {
    Pump _ = starter.start(session, adopted.writer(), request, Pump.Origin.NOT_ASKED, requests);
  }

  private MessageSource resume(
      Session session,
      SharedLog.AdoptedStream stream,
      List<RequestId> requests,
      UpstreamSession upstream,
      Semaphore permits) {
    String after = stream.upstreamId();
    if (after != null) {
      try {
        MessageSource source = retry(() -> upstream.resume(after), permits);
        takenOver(stream, true);
        return source;
      } catch (UpstreamException failure) {
        if (Thread.currentThread().isInterrupted()) {
          throw failure; // The pump was stopped; the call is not lost.
        }
        observers.listener().upstreamFailed(session.upstream(), failure);
      }
    }
    takenOver(stream, false);
    return UpstreamErrors.replicaLost(requests);
  }

  /**
   * Tries several times: a server may not have noticed that the old connection is dead, and a
   * client may show its token soon.
   */
  private static <T> T retry(Supplier<T> open, Semaphore permits) {
    long start = System.nanoTime();
    for (Backoff backoff = FIRST_WAIT; ; backoff = backoff.next()) {
      try {
        return withPermit(open, permits);
      } catch (UpstreamException failure) {
        boolean awaitsToken =
            failure instanceof UpstreamException.NoToken
                && System.nanoTime() - start < UpstreamException.NoToken.PATIENCE.toNanos();
        if ((backoff.isExhausted() && !awaitsToken)
            || failure instanceof UpstreamException.TimedOut
            || StandaloneSource.isFinal(failure)
            || Thread.currentThread().isInterrupted()) {
          throw failure;
        }
      }
      LockSupport.parkNanos(backoff.delay().toNanos());
    }
  }

  private static <T> T withPermit(Supplier<T> open, Semaphore permits) {
    try {
      permits.acquire();
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw new UpstreamException.Broken("the wait for a turn was ended", stop);
    }
    try {
      return open.get();
    } finally {
      permits.release();
    }
  }

  /** The requests without a response. Waits while the store is away: no other replica can do it. */
  private List<RequestId> unanswered(SharedLog.AdoptedStream adopted) {
    PendingRequests pending = new PendingRequests(RequestId.parse(adopted.requests()));
    for (Backoff backoff = FIRST_WAIT; ; backoff = backoff.next()) {
      try {
        pending.removeAnswered(log, adopted.writer().keptIn(), END);
        return pending.open();
      } catch (LogException.StoreUnavailable away) {
        LockSupport.parkNanos(backoff.delay().toNanos());
      }
    }
  }
}
