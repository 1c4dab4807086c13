package dev.holdfast.relay.failover;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.StoreUnavailableException;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.ownership.AdoptedStream;
import dev.holdfast.log.ownership.Adoption;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.Parts;
import dev.holdfast.relay.pump.LostCall;
import dev.holdfast.relay.pump.PendingRequests;
import dev.holdfast.relay.pump.Pump;
import dev.holdfast.relay.pump.Pumps;
import dev.holdfast.relay.pump.RequestIds;
import dev.holdfast.relay.pump.StandaloneSource;
import dev.holdfast.relay.routing.MessageRouter;
import dev.holdfast.relay.routing.PinnedSession;
import dev.holdfast.relay.routing.PinnedSessions;
import dev.holdfast.relay.session.Sessions;
import dev.holdfast.relay.stream.RelayListener;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.retry.Backoff;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionId;
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
import java.util.function.Supplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Gives the streams of a lost replica a new pump here. What the upstream can continue goes on as if
 * nothing had happened: the log knows the upstream's id of the last event that was written, and
 * events that the lost replica had received and not written come again. Any other call is answered
 * with an error that says that its outcome is unknown.
 *
 * <p>Thread-safe, but not for the same session twice at once.
 */
public final class TakeOver {

  private static final Logger LOG = Logger.getLogger(TakeOver.class);

  /** How many streams of one upstream are being opened at a time, however many are taken over. */
  private static final int OPENING = 256;

  private static final int ATTEMPTS = 6;
  private static final Backoff FIRST_WAIT =
      new Backoff(Duration.ofMillis(100), Duration.ofSeconds(1));
  private static final int PAGE = 500;

  private final Sessions sessions;
  private final EventLog log;
  private final Adoption adoption;
  private final MessageRouter outbound;
  private final Pumps pumps;
  private final PinnedSessions homes;
  private final RelayListener listener;

  /** By upstream, so that one that is slow holds up no other. */
  private final Map<String, Semaphore> opening = new ConcurrentHashMap<>();

  /**
   * Puts the parts together.
   *
   * @param parts those of the relay of this replica
   * @param outbound receives what the lost replica has not
   * @param adoption changes the owner of streams, in the same log
   */
  public TakeOver(Sessions sessions, Parts parts, MessageRouter outbound, Adoption adoption) {
    this.sessions = sessions;
    this.log = parts.log();
    this.adoption = adoption;
    this.outbound = outbound;
    this.pumps = parts.pumps();
    this.homes = parts.homes();
    this.listener = parts.listener();
  }

  /**
   * Takes over the streams that a lost replica owns in one session. Returns when they are ours and
   * their pumps are started. A session that has ended is passed over.
   *
   * @param session the session's id
   * @param former the id of the replica
   * @throws dev.holdfast.log.StoreUnavailableException when the log is away; the same call must be
   *     made again, here or elsewhere
   * @throws dev.holdfast.session.SessionStoreException when the sessions are away; likewise
   */
  public void takeOver(String session, String former) {
    take(session, () -> adoption.adopt(session, former));
  }

  /**
   * Takes up some streams of a session that this replica owns and does not write, as if they had
   * been another's. Throws as {@link #takeOver} does.
   *
   * @param names the names of the streams
   */
  void takeUp(String session, Set<String> names) {
    LOG.warnf("nothing writes session=%s streams=%s any more", session, names);
    take(session, () -> adoption.reclaim(session, names));
  }

  private void take(String session, Supplier<List<AdoptedStream>> adopting) {
    Optional<Session> recorded = SessionId.parse(session).flatMap(sessions::recorded);
    if (recorded.isEmpty()) {
      // Whoever ended it may have been lost before it could say so to the log.
      log.end(session);
      return;
    }
    if (sessions.keepsSessions(recorded.get())) {
      bringHome(recorded.get(), adopting.get());
      return;
    }
    UpstreamSession upstream = sessions.upstream(recorded.get());
    Semaphore permits =
        opening.computeIfAbsent(recorded.get().upstream(), name -> new Semaphore(OPENING));
    List<AdoptedStream> adopted = adopting.get();
    // Before a call is taken up again that was cancelled while nobody ran it.
    outbound.collect(session);
    for (AdoptedStream stream : adopted) {
      start(stream, recorded.get(), upstream, permits);
    }
  }

  /** The server was lost with its replica, and with it the calls: only the session may go on. */
  private void bringHome(Session session, List<AdoptedStream> adopted) {
    // First the home: who is told that a call is lost may ask for the next one at once, and here.
    for (AdoptedStream stream : adopted) {
      if (stream.stream().name().equals(StreamNames.STANDALONE)) {
        PinnedSession.Server server = sessions.server(session);
        listener.takenOver(server.reopens());
        homes.add(stream.writer(), server, true);
      }
    }
    for (AdoptedStream stream : adopted) {
      if (!stream.stream().name().equals(StreamNames.STANDALONE)) {
        listener.takenOver(false);
        List<RequestId> requests = unanswered(stream);
        start(stream, requests, () -> LostCall.of(requests));
      }
    }
    // Not before: what waits there is for who is at home.
    outbound.collect(session.id().value());
  }

  private void start(
      AdoptedStream adopted, Session session, UpstreamSession upstream, Semaphore permits) {
    StreamRef stream = adopted.stream();
    String after = adopted.upstreamId();
    if (stream.name().equals(StreamNames.STANDALONE)) {
      StandaloneSource.Opening listen = last -> once(() -> upstream.listen(last), permits);
      listener.takenOver(true);
      start(
          adopted,
          List.of(),
          () ->
              new StandaloneSource(
                  listen,
                  after,
                  listener,
                  Backoff.UPSTREAM,
                  () -> sessions.endedByServer(session)));
    } else {
      List<RequestId> requests = unanswered(adopted);
      start(adopted, requests, () -> goOn(upstream, after, requests, permits));
    }
  }

  private void start(
      AdoptedStream adopted, List<RequestId> requests, Supplier<MessageSource> source) {
    LOG.debugf("stream=%s is taken over", adopted.stream());
    Pump _ =
        pumps.start(
            adopted.writer(),
            source,
            Pump.Origin.TO_ASK,
            requests,
            () -> outbound.collect(adopted.stream().session()));
  }

  private MessageSource goOn(
      UpstreamSession upstream,
      @Nullable String after,
      List<RequestId> requests,
      Semaphore permits) {
    if (after != null) {
      try {
        MessageSource source = open(() -> upstream.resume(after), permits);
        listener.takenOver(true);
        return source;
      } catch (UpstreamException failure) {
        if (Thread.currentThread().isInterrupted()) {
          throw failure; // The pump was stopped: it does not say that the call is lost.
        }
        listener.upstreamFailed(failure);
      }
    }
    listener.takenOver(false);
    return LostCall.of(requests);
  }

  /** Asks more than once: a server may not have noticed yet that the old connection is dead. */
  private static <T> T open(Supplier<T> stream, Semaphore permits) {
    Backoff backoff = FIRST_WAIT;
    for (int attempt = 1; ; attempt++) {
      try {
        return once(stream, permits);
      } catch (UpstreamException failure) {
        if (attempt == ATTEMPTS || isFinal(failure) || Thread.currentThread().isInterrupted()) {
          throw failure;
        }
      }
      LockSupport.parkNanos(backoff.delay().toNanos());
      backoff = backoff.next();
    }
  }

  private static <T> T once(Supplier<T> stream, Semaphore permits) {
    try {
      permits.acquire();
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new UpstreamException.Broken("the wait for a turn was ended", stopped);
    }
    try {
      return stream.get();
    } finally {
      permits.release();
    }
  }

  private static boolean isFinal(UpstreamException failure) {
    return switch (failure) {
      case UpstreamException.SessionGone _ -> true;
      case UpstreamException.Refused refused -> !StandaloneSource.saysNotNow(refused.status());
      case UpstreamException.Unreachable _, UpstreamException.Busy _, UpstreamException.Broken _ ->
          false;
      case UpstreamException.TimedOut _ -> true;
    };
  }

  /** Waits for a store that is away: what has been claimed must be written, by nobody else. */
  private List<RequestId> unanswered(AdoptedStream adopted) {
    List<RequestId> requests = RequestIds.read(adopted.requests());
    Backoff backoff = FIRST_WAIT;
    while (requests.size() > 1) {
      try {
        return unanswered(requests, adopted.writer().keptIn());
      } catch (StoreUnavailableException away) {
        LockSupport.parkNanos(backoff.delay().toNanos());
        backoff = backoff.next();
      }
    }
    return requests;
  }

  /** Of a batch, some requests may be answered already: that is in the log. */
  private List<RequestId> unanswered(List<RequestId> requests, StreamRef stream) {
    PendingRequests pending = new PendingRequests(requests);
    Position cursor = log.beforeOldest(stream).orElse(Position.START);
    while (log.read(stream, cursor, PAGE) instanceof ReadResult.Events(List<LogEvent> events)
        && !events.isEmpty()) {
      events.forEach(event -> strikeOut(pending, event));
      cursor = events.getLast().position();
    }
    return pending.open();
  }

  private static void strikeOut(PendingRequests pending, LogEvent event) {
    try {
      boolean _ = pending.answeredBy(event.payload());
    } catch (EnvelopeException noMessage) {
      LOG.tracef("an event that answers nothing: %s", noMessage.getMessage());
    }
  }

  /**
   * Stops the pumps whose streams are no longer ours: this replica may have been thought lost.
   *
   * @throws dev.holdfast.log.StoreUnavailableException when the log is away; what such a pump
   *     writes is refused in any case
   */
  public void stopFenced() {
    adoption.findTakenOver(pumps.streams()).forEach(pumps::stop);
  }

  /** Whether streams of a session are written here. */
  public boolean isPumping(String session) {
    return pumps.isRunning(session);
  }
}
