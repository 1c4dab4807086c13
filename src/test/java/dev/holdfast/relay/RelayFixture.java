package dev.holdfast.relay;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.log.Adoption;
import dev.holdfast.log.LogTesting;
import dev.holdfast.log.Position;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.memory.MemoryEventLog;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionLimits;
import dev.holdfast.session.memory.MemorySessionStore;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.local.LocalUpstream;
import dev.holdfast.upstream.local.Offer;
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
final class RelayFixture implements AutoCloseable {

  static final String LOCAL = "local";
  static final String SCRIPTED = "scripted";
  static final Duration IDLE = Duration.ofHours(1);
  static final int MAX_SESSIONS = 3;
  static final int MAX_STREAMS = 4;

  final AtomicLong now = new AtomicLong(1_000_000_000);
  final InstantSource clock = () -> Instant.ofEpochMilli(now.get());
  final Heard heard = new Heard();
  final ScriptedUpstream scripted = new ScriptedUpstream();
  final FaultyLog log =
      new FaultyLog(
          new MemoryEventLog(
              new Retention(Duration.ofHours(10), Duration.ofMinutes(2), 10, IDLE, MAX_STREAMS),
              100_000_000,
              clock));
  final ScriptedInbox inbox = new ScriptedInbox();
  final MemorySessionStore store =
      new MemorySessionStore(IDLE, new SessionLimits(MAX_SESSIONS, Map.of()), clock);
  final Relay relay;
  private final Sessions sessions;
  private final Parts parts;
  private final Outbound outbound;
  private final LocalUpstream local;

  RelayFixture(Tool<?>... tools) {
    this(Settings.streams(), Settings.replay(), tools);
  }

  RelayFixture(StreamConfig streams, ReplayConfig replay, Tool<?>... tools) {
    local = new LocalUpstream(Offer.of(List.of(tools)), "test", "1");
    Map<String, Upstream> upstreams = Map.of(LOCAL, local, SCRIPTED, scripted);
    parts = new Parts(log, inbox, streams, replay, Duration.ofSeconds(5), heard);
    // A tenth of this is how seldom the store hears of use; by the monotonic clock, so: always.
    Duration always = Duration.ofNanos(10);
    sessions = new Sessions(store, upstreams, parts, always, clock);
    outbound = new Outbound(sessions, parts);
    relay = new Relay(sessions, parts, outbound, clock);
  }

  /** Opens a session of an older revision. */
  Session openAs(String version) {
    scripted.handshake = () -> ScriptedUpstream.handshake(version);
    return Objects.requireNonNull(relay.initialize(SCRIPTED, initialize(version)).session());
  }

  /** Takes over streams into this relay. */
  TakeOver takeOver(Adoption adoption) {
    return new TakeOver(sessions, parts, outbound, adoption);
  }

  /** Looks for streams that nothing in this relay writes. */
  Strays strays(Adoption adoption, TakeOver takeOver, List<String> sessions) {
    return new Strays(adoption, takeOver, parts, () -> sessions);
  }

  /** Drains this relay. */
  Drain drain(@Nullable Handover others) {
    return new Drain(parts, others);
  }

  /** Stops all pumps, as if others had taken their streams. */
  void stopAll() {
    parts.pumps().each(Pump::leave);
  }

  boolean isPumping(Session session) {
    return parts.pumps().isRunning(session.id().value());
  }

  /** What the stream that a client followed has by now. */
  List<String> logged(Session session, TestConnection client) {
    String name = client.lastId().substring(0, client.lastId().indexOf('_'));
    return LogTesting.payloads(
        LogTesting.readAll(log, new StreamRef(session.id().value(), name), Position.START));
  }

  void pass(Duration time) {
    now.addAndGet(time.toMillis());
  }

  static Body body(String json) {
    return Envelopes.read(json.getBytes(UTF_8));
  }

  static Message.Request initialize(String version) {
    String json =
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\""
            + version
            + "\",\"clientInfo\":{\"name\":\"c\",\"version\":\"9\"}}}";
    return (Message.Request) ((Body.Single) body(json)).message();
  }

  static String call(String jsonId, String tool) {
    return "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\"}}"
        .formatted(jsonId, tool);
  }

  static String ping(String jsonId) {
    return "{\"jsonrpc\":\"2.0\",\"id\":" + jsonId + ",\"method\":\"ping\"}";
  }

  static String cancelled(String jsonId) {
    return "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":"
        + jsonId
        + "}}";
  }

  static String initialized() {
    return "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}";
  }

  Session open(String upstream) {
    return Objects.requireNonNull(relay.initialize(upstream, initialize("2025-11-25")).session());
  }

  /** Sends a request that is answered with a stream. */
  Tail request(Session session, String json) {
    return ((Reply.Stream) relay.request(session, body(json))).tail();
  }

  /** Sends a request and follows its stream. */
  TestConnection follow(Session session, String json) {
    return Desk.run(request(session, json), new TestConnection());
  }

  @Override
  public void close() {
    local.close();
    log.close();
  }
}
