package dev.holdfast.relay;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.StreamRef;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.relay.legacy.LegacySseRelay;
import dev.holdfast.relay.pump.PendingRequests;
import dev.holdfast.relay.pump.Pump;
import dev.holdfast.relay.routing.MessageRouter;
import dev.holdfast.relay.routing.StreamStarter;
import dev.holdfast.relay.session.InitializeReply;
import dev.holdfast.relay.session.SessionEndReport;
import dev.holdfast.relay.session.Sessions;
import dev.holdfast.relay.stream.Admission;
import dev.holdfast.relay.stream.EventId;
import dev.holdfast.relay.stream.MessageKind;
import dev.holdfast.relay.stream.RelayException;
import dev.holdfast.relay.stream.RelayListener;
import dev.holdfast.relay.stream.ReplayConfig;
import dev.holdfast.relay.stream.StreamConfig;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.relay.tail.Tail;
import dev.holdfast.relay.tail.TailOpener;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionId;
import dev.holdfast.session.SessionStore;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamSession;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.function.Supplier;
import org.jboss.logging.Logger;

/**
 * Takes what a client sends to its upstream, and gives the client its streams.
 *
 * <p>Thread-safe. Methods block their (virtual) thread. Besides what they name, they throw {@link
 * RelayException} for what cannot be had, or not any more here, {@link UpstreamException} for an
 * upstream that failed, and the exceptions of {@link EventLog} and {@link SessionStore} for a store
 * that is away.
 */
public final class Relay {

  private static final Logger LOG = Logger.getLogger(Relay.class);

  /**
   * How long the head of a durable stream waits for the upstream's first sign. An upstream that
   * fails at once can so be answered with a status; a client that is cut off in this time cannot
   * resume the call yet, so it is short.
   */
  private static final Duration FIRST_SIGN = Duration.ofMillis(50);

  private final Sessions sessions;
  private final StreamConfig streams;
  private final ReplayConfig replay;
  private final RelayListener listener;
  private final Parts parts;
  private final StreamStarter calls;
  private final Admission admission;
  private final MessageRouter outbound;
  private final TailOpener tails;
  private final LegacySseRelay oneStream;

  /**
   * Puts the parts together.
   *
   * @param sessions begins, finds and ends sessions
   * @param parts what sessions and streams share
   * @param outbound brings what asks for no answer to whom it concerns
   * @param clock tells how old a cursor is
   */
  public Relay(Sessions sessions, Parts parts, MessageRouter outbound, InstantSource clock) {
    this.sessions = sessions;
    this.outbound = outbound;
    this.parts = parts;
    this.calls = new StreamStarter(sessions, parts, outbound);
    this.streams = parts.streams();
    this.replay = parts.replay();
    this.listener = parts.listener();
    this.admission = parts.admission();
    this.tails = new TailOpener(parts, sessions::used, clock);
    this.oneStream = new LegacySseRelay(sessions, admission, outbound, calls, tails);
  }

  /** What clients use that have one stream for everything. */
  public LegacySseRelay oneStream() {
    return oneStream;
  }

  /**
   * Checks the name of an upstream.
   *
   * @throws RelayException.UnknownUpstream when there is none of that name
   */
  public void requireUpstream(String upstream) {
    sessions.requireKnown(upstream);
  }

  /**
   * Opens a session.
   *
   * @param upstream the name of the upstream
   * @throws RelayException.UnknownUpstream when there is none of that name
   * @throws RelayException.UnsupportedVersion when the upstream chose a version that is unknown
   *     here
   */
  public InitializeReply initialize(String upstream, Message.Request request) {
    try (Admission.Pass _ = admission.enter()) {
      listener.fromClient(MessageKind.REQUEST);
      InitializeReply reply = sessions.begin(upstream, request);
      listener.fromUpstream(MessageKind.RESPONSE);
      return reply;
    } catch (UpstreamException failure) {
      listener.upstreamFailed(failure);
      throw failure;
    }
  }

  /**
   * Finds a session that a client named.
   *
   * @throws RelayException.SessionNotFound when this upstream has none of that name
   */
  public Session session(String upstream, SessionId id) {
    return requireStreams(sessions.find(upstream, id));
  }

  /**
   * Finds the session in which a body is to be sent.
   *
   * @throws RelayException.SessionNotFound when this upstream has none of that name; for some
   *     bodies only {@link #request} finds that out
   */
  public Session session(String upstream, SessionId id, Body body) {
    return requireStreams(
        isDurable(body) ? sessions.recall(upstream, id) : sessions.find(upstream, id));
  }

  /** What a session with one stream has, its client gets there only. */
  private static Session requireStreams(Session session) {
    if (session.hasOneStream()) {
      throw new RelayException.SessionNotFound();
    }
    return session;
  }

  /**
   * Counts an HTTP request of a session, for those who look after sessions.
   *
   * @param address from where it came
   * @param failed whether it was answered with an error status
   */
  public void count(Session session, String address, boolean failed) {
    sessions.count(session, address, failed);
  }

  /** Ends a session everywhere: upstream, log, pumps and tails. */
  public SessionEndReport end(Session session) {
    return sessions.end(session);
  }

  /** Sends a request, or a batch with requests in it, and gives its answer. */
  public Reply request(Session session, Body body) {
    try (Admission.Pass _ = admission.enter()) {
      return answer(session, body);
    }
  }

  private Reply answer(Session session, Body body) {
    calls.heard(body);
    if (!outbound.reaches(session)) {
      return elsewhere(session, body);
    }
    outbound.withdraw(session, body);
    UpstreamSession upstream = sessions.upstream(session);
    try {
      if (isDurable(body)) {
        return durable(session, body, () -> upstream.request(body), Pump.Origin.TO_ASK);
      }
      return switch (upstream.request(body)) {
        case Answer.Json json -> {
          PendingRequests.idsOf(body).forEach(_ -> listener.fromUpstream(MessageKind.RESPONSE));
          yield new Reply.Json(json.json());
        }
        case Answer.Stream stream -> answered(session, body, stream);
      };
    } catch (UpstreamException failure) {
      throw calls.failed(session, failure, !isDurable(body));
    }
  }

  /** Has the replica in which the session lives answer, on a stream that is followed from here. */
  private Reply elsewhere(Session session, Body body) {
    StreamRef stream = StreamNames.of(session, StreamNames.next());
    calls.startElsewhere(session, stream, body);
    return new Reply.Stream(tails.ofRequest(session, stream));
  }

  private boolean isDurable(Body body) {
    return replay.enabled()
        && (streams.durable() == StreamConfig.Durable.ALL
            || switch (body) {
              case Body.Single(Message.Request request) ->
                  request.method().equals(Methods.TOOLS_CALL);
              case Body.Single _ -> false;
              // Several responses need a stream that ends with the last of them.
              case Body.Batch _ -> true;
            });
  }

  private Reply durable(Session session, Body body, Supplier<Answer> ask, Pump.Origin origin) {
    StreamRef stream = StreamNames.of(session, StreamNames.next());
    Pump pump = calls.start(session, stream, body, () -> StreamStarter.sourceOf(ask.get()), origin);
    pump.awaitFirstSign(FIRST_SIGN);
    return new Reply.Stream(tails.ofRequest(session, stream));
  }

  private Reply answered(Session session, Body body, Answer.Stream answer) {
    boolean taken = false;
    try {
      Reply reply = durable(session, body, () -> answer, Pump.Origin.ASKED);
      taken = true;
      return reply;
    } finally {
      if (!taken) {
        answer.source().close();
      }
    }
  }

  /** Sends notifications or responses. */
  public void send(Session session, Body body) {
    calls.heard(body);
    try {
      outbound.send(session, body);
    } catch (UpstreamException failure) {
      throw calls.failed(session, failure, true);
    }
    if (PendingRequests.messagesOf(body).stream().anyMatch(Relay::saysInitialized)) {
      sessions.initialized(session);
      startListeningIfAdmitted(session);
    }
  }

  private void startListeningIfAdmitted(Session session) {
    try (Admission.Pass _ = admission.enterByChoice()) {
      calls.startListening(session);
    } catch (RelayException.Draining elsewhere) {
      LOG.debugf("session=%s is listened to by whoever gets its GET", session.id());
    }
  }

  private static boolean saysInitialized(Message message) {
    return message instanceof Message.Notification notification
        && notification.method().equals(Methods.NOTIFICATIONS_INITIALIZED);
  }

  /** Gives the standalone stream, from the first event that was not delivered yet. */
  public Tail listen(Session session) {
    listenUpstream(session);
    return tails.standalone(session);
  }

  /** Gives the standalone stream, from the oldest event that is kept. */
  public Tail listenFromStart(Session session) {
    listenUpstream(session);
    return tails.standaloneFromStart(session);
  }

  private void listenUpstream(Session session) {
    try (Admission.Pass _ = admission.enter()) {
      if (sessions.keepsSessions(session) && !outbound.hasHome(session)) {
        // Not ended yet: the client may still come for the last words of its calls.
        throw new RelayException.SessionNotFound();
      }
      calls.startListening(session);
    }
  }

  /**
   * Gives a stream from the event after the one that the client names.
   *
   * @return empty when the stream is complete and the client has all of it
   * @throws RelayException.EventsPurged when events after it are gone, unless replay goes on after
   *     gaps
   * @throws RelayException.StreamNotFound when the session has no such stream
   */
  public Optional<Tail> resume(Session session, EventId last) {
    if (!replay.enabled()) {
      return Optional.of(listen(session));
    }
    return tails.resume(session, last);
  }

  /** Whether this replica is about to stop, and is to be given nothing new. */
  public boolean isDraining() {
    return admission.isClosing();
  }

  /**
   * Removes what has expired: sessions, with all that belongs to them, and events.
   *
   * @return what became of the sessions
   */
  public SessionEndReport sweep() {
    SessionEndReport expired = sessions.endExpired();
    sessions.endOrphans();
    parts.log().sweep();
    tails.sweep();
    parts.pumps().sweep();
    return expired;
  }
}
