package dev.holdfast.relay;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.audit.AuditLog;
import dev.holdfast.call.Caller;
import dev.holdfast.call.ClientTokens;
import dev.holdfast.call.Conversation;
import dev.holdfast.call.Exchange;
import dev.holdfast.call.Principal;
import dev.holdfast.call.SessionId;
import dev.holdfast.held.HeldConfig;
import dev.holdfast.log.CallIndex;
import dev.holdfast.log.Inbox;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.LogTesting;
import dev.holdfast.log.Position;
import dev.holdfast.log.SharedLog;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.memory.MemoryCallIndex;
import dev.holdfast.log.memory.MemoryEventLog;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.relay.attach.AttachListener;
import dev.holdfast.relay.failover.Drain;
import dev.holdfast.relay.failover.OrphanedStreams;
import dev.holdfast.relay.failover.TakeOver;
import dev.holdfast.relay.legacy.LegacySseRelay;
import dev.holdfast.relay.pump.Pump;
import dev.holdfast.relay.routing.ScriptedInbox;
import dev.holdfast.relay.session.SessionOpener;
import dev.holdfast.relay.session.Sessions;
import dev.holdfast.relay.stream.ReplayConfig;
import dev.holdfast.relay.stream.StoreFailureConfig;
import dev.holdfast.relay.stream.StreamConfig;
import dev.holdfast.relay.tail.Tail;
import dev.holdfast.relay.tail.TestConnection;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionConfig;
import dev.holdfast.session.SessionLimits;
import dev.holdfast.session.memory.MemorySessionStore;
import dev.holdfast.upstream.Upstreams;
import dev.holdfast.upstream.local.Tool;
import dev.holdfast.upstream.local.server.LocalUpstream;
import dev.holdfast.upstream.local.server.LogLevelStore;
import dev.holdfast.wiring.RelayProducer;
import dev.holdfast.wiring.config.ConfigFixture;
import dev.holdfast.wiring.config.GatewayConfig;
import io.smallrye.config.SmallRyeConfig;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** A complete relay with a manual clock, a real local server and a scripted one. */
public final class RelayFixture implements AutoCloseable {

  public static final String LOCAL = "local";
  public static final String SCRIPTED = "scripted";

  /** A client of which nothing is known. */
  public static final Caller OPENER = Caller.UNKNOWN.at("192.0.2.1", "192.0.2.1", "");

  /** A client that is known to resume its streams. */
  public static final Caller RESUMING = OPENER.at("192.0.2.1", "192.0.2.1", "resuming/1");

  public static final Duration IDLE = Duration.ofHours(1);
  public static final int MAX_SESSIONS = 3;
  static final int MAX_STREAMS = 4;

  final AtomicLong now = new AtomicLong(1_000_000_000);
  public final InstantSource clock = () -> Instant.ofEpochMilli(now.get());
  public final List<AttachListener.Event> repeated = new CopyOnWriteArrayList<>();
  public final RecordingListener heard = new RecordingListener();
  public final CallIndex calls = new MemoryCallIndex(clock);
  public final ScriptedUpstream scripted = new ScriptedUpstream();
  private final MemoryEventLog memory =
      new MemoryEventLog(
          LogTesting.retention(Duration.ofHours(10), Duration.ofMinutes(2), 10, IDLE, MAX_STREAMS),
          100_000_000,
          Long.MAX_VALUE,
          clock);
  public final FaultyLog log = new FaultyLog(memory);
  public final ScriptedInbox inbox = new ScriptedInbox();
  public final MemorySessionStore store =
      new MemorySessionStore(
          IDLE, () -> new SessionLimits(MAX_SESSIONS, MAX_SESSIONS, Map.of()), clock);
  private final StreamConfig streams;
  private final RelayProducer built;
  public final Relay relay;
  public final LegacySseRelay legacy;
  public final RequestSender sender;
  public final StreamFollower follower;
  public final Housekeeping housekeeping;
  public final Sessions sessions;
  private final LocalUpstream local;

  public RelayFixture(Tool<?>... tools) {
    this(Settings.streams(), Settings.replay(), tools);
  }

  /** A relay in which repeated calls join the first one. */
  public RelayFixture(Duration attachWindow, Tool<?>... tools) {
    this(Settings.streams(), Settings.replay(), attachWindow, tools);
  }

  public RelayFixture(StreamConfig streams, ReplayConfig replay, Tool<?>... tools) {
    this(streams, replay, Duration.ZERO, tools);
  }

  private RelayFixture(
      StreamConfig streams, ReplayConfig replay, Duration attachWindow, Tool<?>... tools) {
    local =
        new LocalUpstream(
            new LocalUpstream.ServerFeatures(List.of(tools), List.of(), List.of()),
            new LogLevelStore.InMemory(),
            "test",
            "1");
    this.streams = streams;
    // The store hears of each use: the interval is a tenth of this.
    Duration always = Duration.ofNanos(10);
    SmallRyeConfig config =
        ConfigFixture.by(
            Map.of(
                "holdfast.clients.resuming.user-agent",
                "resuming/*",
                "holdfast.clients.resuming.resumes",
                "3",
                "holdfast.session.idle-timeout",
                always.toString(),
                "holdfast.calls.attach-window",
                attachWindow.toString()));
    SharedLog shared =
        new SharedLog() {
          @Override
          public Inbox inbox() {
            return inbox;
          }
        };
    built =
        new RelayProducer(
            new RelayProducer.Config(
                config.getConfigMapping(GatewayConfig.class),
                streams,
                replay,
                config.getConfigMapping(StoreFailureConfig.class),
                config.getConfigMapping(SessionConfig.class),
                config.getConfigMapping(HeldConfig.class)),
            new Upstreams(Map.of(LOCAL, local, SCRIPTED, scripted)),
            new RelayProducer.Stores(log, shared, store, calls, memory),
            new TakeOver.Observers(_ -> {}, heard, AuditLog.OFF, null),
            repeated::add,
            new ClientTokens(1_000_000, clock),
            clock);
    relay = built.relay;
    legacy = built.legacy;
    sender = built.sender;
    follower = built.follower;
    housekeeping = built.housekeeping;
    sessions = built.sessions;
  }

  /** Opens a session of an older revision. */
  public Session openAs(String version) {
    scripted.handshake = () -> ScriptedUpstream.handshake(version);
    return Objects.requireNonNull(initialize(SCRIPTED, initialize(version), RESUMING).session());
  }

  /** A take-over into this relay. */
  public TakeOver takeOver(SharedLog adoption) {
    return built.takeOver(adoption);
  }

  /** Stops the pumps whose streams other replicas took over. */
  public void stopLostPumps(SharedLog shared) {
    built.pumps.stopLost(shared, _ -> true);
  }

  /** The check for orphaned streams of this relay. */
  public OrphanedStreams orphans(SharedLog adoption, TakeOver takeOver, List<LogKey> sessions) {
    return new OrphanedStreams(adoption, takeOver, built.admission, () -> sessions);
  }

  public boolean isAnswering(Session session) {
    return built.pumps.areAnswering(new LogKey(session.id().value()));
  }

  /** Notes which sessions are in use. */
  public void keep() {
    housekeeping.keep();
  }

  /** Ends the sessions that no client has used for that time. */
  public void endAbandoned(Duration timeout) {
    keep();
    sessions.endAbandoned(timeout);
  }

  /** Stops the pumps of sessions that have ended. */
  public void stopPumpsOfEndedSessions() {
    sessions.stopPumpsOfEndedSessions(_ -> true);
  }

  /** Drains this relay. */
  public Drain drain(Drain.@Nullable Handover others) {
    return new Drain(streams, built.pumps, built.tails, built.admission, others);
  }

  /** Stops all pumps, as if others had taken their streams. */
  public void stopAll() {
    built.pumps.forEach(Pump::handOver);
  }

  public boolean isPumping(Session session) {
    return built.pumps.isRunning(new LogKey(session.id().value()));
  }

  /** The events of the stream that a client followed. */
  public List<String> logged(Session session, TestConnection client) {
    String name = client.lastId().substring(0, client.lastId().indexOf('_'));
    return LogTesting.payloads(
        LogTesting.readAll(
            log, new StreamRef(new LogKey(session.id().value()), name), Position.START));
  }

  public void pass(Duration time) {
    now.addAndGet(time.toMillis());
  }

  public static Body body(String json) {
    return Envelopes.read(json.getBytes(UTF_8));
  }

  public static Message.Request initialize(String version) {
    String json =
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\""
            + version
            + "\",\"clientInfo\":{\"name\":\"c\",\"version\":\"9\"}}}";
    return (Message.Request) ((Body.Single) body(json)).message();
  }

  public static String call(String jsonId, String tool) {
    return "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\"}}"
        .formatted(jsonId, tool);
  }

  public static String ping(String jsonId) {
    return "{\"jsonrpc\":\"2.0\",\"id\":" + jsonId + ",\"method\":\"ping\"}";
  }

  public static String cancelled(String jsonId) {
    return "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":"
        + jsonId
        + "}}";
  }

  public static String initialized() {
    return "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}";
  }

  public Session open(String upstream) {
    return open(upstream, OPENER);
  }

  public Session open(String upstream, Caller opener) {
    return Objects.requireNonNull(initialize(upstream, initialize("2025-11-25"), opener).session());
  }

  /** Sends an {@code initialize}, as a client does. */
  public SessionOpener.InitializeReply initialize(
      String upstream, Message.Request request, Caller caller) {
    return relay.open(upstream, request, caller);
  }

  /** Finds a session over Streamable HTTP. */
  public Session find(String upstream, SessionId id) {
    return sessions.find(upstream, new Conversation.Streamable(id), Principal.ANONYMOUS);
  }

  /** Finds a session over HTTP with SSE. */
  public Session findSse(SessionId id) {
    return sessions.find(SCRIPTED, new Conversation.Sse(id), Principal.ANONYMOUS);
  }

  /** Opens a session that does not end as unused. */
  public Session openAndUse(String upstream) {
    Session session = open(upstream);
    return find(upstream, session.id());
  }

  /** Sends a request that is answered with a stream. */
  public Tail request(Session session, String json) {
    return ((Reply.Stream) send(session, body(json), Caller.UNKNOWN, () -> {})).tail();
  }

  /** Sends a body with requests. */
  public Reply send(Session session, Body body, Caller caller, Runnable onSent) {
    return sender.request(session, exchange(session, caller, body), onSent);
  }

  /** Messages of a client of a session over Streamable HTTP. */
  public static Exchange exchange(Session session, Caller caller, Body body) {
    var named = new Conversation.Streamable(session.id());
    return new Exchange(session.upstream(), named, caller, body, () -> false);
  }

  /** Sends a request and follows its stream. */
  public TestConnection follow(Session session, String json) {
    return LogFixture.run(request(session, json), new TestConnection());
  }

  @Override
  public void close() {
    local.close();
    log.close();
  }
}
