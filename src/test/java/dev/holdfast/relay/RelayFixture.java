package dev.holdfast.relay;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.log.LogTesting;
import dev.holdfast.log.Position;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.memory.MemoryEventLog;
import dev.holdfast.log.ownership.Adoption;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.relay.failover.Drain;
import dev.holdfast.relay.failover.Handover;
import dev.holdfast.relay.failover.OrphanedStreams;
import dev.holdfast.relay.failover.TakeOver;
import dev.holdfast.relay.pump.Pump;
import dev.holdfast.relay.routing.MessageRouter;
import dev.holdfast.relay.routing.ScriptedInbox;
import dev.holdfast.relay.session.Sessions;
import dev.holdfast.relay.stream.ReplayConfig;
import dev.holdfast.relay.stream.StreamConfig;
import dev.holdfast.relay.tail.Tail;
import dev.holdfast.relay.tail.TestConnection;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionLimits;
import dev.holdfast.session.memory.MemorySessionStore;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.local.LocalFeatures;
import dev.holdfast.upstream.local.LocalUpstream;
import dev.holdfast.upstream.local.Tool;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** A whole relay on a clock that a test moves, with a real local server and a scripted one. */
public final class RelayFixture implements AutoCloseable {

  public static final String LOCAL = "local";
  public static final String SCRIPTED = "scripted";
  public static final Duration IDLE = Duration.ofHours(1);
  public static final int MAX_SESSIONS = 3;
  static final int MAX_STREAMS = 4;

  final AtomicLong now = new AtomicLong(1_000_000_000);
  public final InstantSource clock = () -> Instant.ofEpochMilli(now.get());
  public final RecordingListener heard = new RecordingListener();
  public final ScriptedUpstream scripted = new ScriptedUpstream();
  public final FaultyLog log =
      new FaultyLog(
          new MemoryEventLog(
              new Retention(Duration.ofHours(10), Duration.ofMinutes(2), 10, IDLE, MAX_STREAMS),
              100_000_000,
              clock));
  public final ScriptedInbox inbox = new ScriptedInbox();
  public final MemorySessionStore store =
      new MemorySessionStore(IDLE, new SessionLimits(MAX_SESSIONS, Map.of()), clock);
  public final Relay relay;
  private final Sessions sessions;
  private final Parts parts;
  private final MessageRouter outbound;
  private final LocalUpstream local;

  public RelayFixture(Tool<?>... tools) {
    this(Settings.streams(), Settings.replay(), tools);
  }

  public RelayFixture(StreamConfig streams, ReplayConfig replay, Tool<?>... tools) {
    local = new LocalUpstream(LocalFeatures.of(List.of(tools)), "test", "1");
    Map<String, Upstream> upstreams = Map.of(LOCAL, local, SCRIPTED, scripted);
    parts = new Parts(log, inbox, streams, replay, Duration.ofSeconds(5), heard);
    // A tenth of this is how seldom the store hears of use; by the monotonic clock, so: always.
    Duration always = Duration.ofNanos(10);
    sessions = new Sessions(store, upstreams, parts, always, clock);
    outbound = new MessageRouter(sessions, parts);
    relay = new Relay(sessions, parts, outbound, clock);
  }

  /** Opens a session of an older revision. */
  public Session openAs(String version) {
    scripted.handshake = () -> ScriptedUpstream.handshake(version);
    return Objects.requireNonNull(relay.initialize(SCRIPTED, initialize(version)).session());
  }

  /** Takes over streams into this relay. */
  public TakeOver takeOver(Adoption adoption) {
    return new TakeOver(sessions, parts, outbound, adoption);
  }

  /** Looks for streams that nothing in this relay writes. */
  public OrphanedStreams strays(Adoption adoption, TakeOver takeOver, List<String> sessions) {
    return new OrphanedStreams(adoption, takeOver, parts, () -> sessions);
  }

  /** Drains this relay. */
  public Drain drain(@Nullable Handover others) {
    return new Drain(parts, others);
  }

  /** Stops all pumps, as if others had taken their streams. */
  public void stopAll() {
    parts.pumps().forEach(Pump::leave);
  }

  public boolean isPumping(Session session) {
    return parts.pumps().isRunning(session.id().value());
  }

  /** What the stream that a client followed has by now. */
  public List<String> logged(Session session, TestConnection client) {
    String name = client.lastId().substring(0, client.lastId().indexOf('_'));
    return LogTesting.payloads(
        LogTesting.readAll(log, new StreamRef(session.id().value(), name), Position.START));
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
    return Objects.requireNonNull(relay.initialize(upstream, initialize("2025-11-25")).session());
  }

  /** Sends a request that is answered with a stream. */
  public Tail request(Session session, String json) {
    return ((Reply.Stream) relay.request(session, body(json))).tail();
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
