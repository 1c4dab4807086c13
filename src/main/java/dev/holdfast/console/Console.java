package dev.holdfast.console;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.call.SessionId;
import dev.holdfast.cluster.ReplicaList;
import dev.holdfast.log.LogException;
import dev.holdfast.log.StreamIndex;
import dev.holdfast.protocol.Sha256;
import dev.holdfast.relay.Relay;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionStore;
import dev.holdfast.session.SessionStoreException;
import dev.holdfast.upstream.UpstreamMonitor;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/**
 * Views and actions of the console. It never has messages, or whole ids of sessions: these are
 * secrets of clients, so it names a session by a hash of its id. Thread-safe. Methods block.
 */
public final class Console {

  /** Maximum number of listed sessions. Each costs a command of the store. */
  private static final int MAX_SESSIONS = 100;

  /** Maximum number of listed streams of a session. */
  private static final int MAX_STREAMS = 40;

  private static final int KEY_BYTES = 16;

  private final GatewayInfo info;
  private final IntSupplier port;
  private final SessionStore sessions;
  private final StreamIndex streams;
  private final Relay relay;
  private final UpstreamMonitor upstreams;
  private final Supplier<List<ReplicaList.Replica>> replicas;
  private final MeterRegistry metrics;

  /** The sessions of the latest list, by their keys. */
  private volatile Map<String, Session> listed = Map.of();

  /**
   * Creates the console.
   *
   * @param port port for clients, which is known when the gateway listens
   * @param streams lists streams of the same store as the sessions
   */
  public Console(
      GatewayInfo info,
      IntSupplier port,
      SessionStore sessions,
      StreamIndex streams,
      Relay relay,
      UpstreamMonitor upstreams,
      Supplier<List<ReplicaList.Replica>> replicas,
      MeterRegistry metrics) {
    this.info = info;
    this.port = port;
    this.sessions = sessions;
    this.streams = streams;
    this.relay = relay;
    this.upstreams = upstreams;
    this.replicas = replicas;
    this.metrics = metrics;
  }

  boolean isServed() {
    return info.served();
  }

  int port() {
    return port.getAsInt();
  }

  /**
   * Describes the gateway, its upstreams, replicas and most recently used sessions.
   *
   * @throws SessionStoreException when the store is away
   */
  JsonObject status() {
    List<SessionStore.Page.Entry> latest = list();
    long count = Math.max(sessions.count(), latest.size());
    return new JsonObject()
        .put("version", info.version())
        .put("store", info.store())
        .put(
            "started",
            ProcessHandle.current().info().startInstant().map(Instant::toString).orElse(null))
        .put("draining", relay.isDraining())
        .put("port", port())
        .put("demo", info.demo())
        .put("counts", counts(count))
        .put("upstreams", upstreams())
        .put("replicas", replicas())
        .put("sessions", new JsonArray(latest.stream().map(Console::session).toList()))
        .put("moreSessions", count - latest.size());
  }

  private List<SessionStore.Page.Entry> list() {
    List<SessionStore.Page.Entry> latest = sessions.latest(MAX_SESSIONS);
    Map<String, Session> byKey = new LinkedHashMap<>();
    latest.forEach(entry -> byKey.put(key(entry.session().id()), entry.session()));
    listed = Map.copyOf(byKey);
    return latest;
  }

  /** A name for a session that nobody can use as its id. */
  private static String key(SessionId id) {
    byte[] digest = Sha256.of(id.value().getBytes(UTF_8));
    return HexFormat.of().formatHex(digest, 0, KEY_BYTES);
  }

  private JsonObject counts(long allSessions) {
    DistributionSummary replays = metrics.find("holdfast.replay.events").summary();
    return new JsonObject()
        .put("sessions", allSessions)
        .put("openStreams", relay.openStreams())
        .put("connections", gauge("holdfast.connections.active"))
        .put("heldBack", gauge("holdfast.streams.held.back"))
        .put("resumes", replays == null ? 0 : replays.count())
        .put("gaps", count("holdfast.gaps"))
        .put("takeOvers", count("holdfast.takeovers"));
  }

  private long gauge(String name) {
    Gauge gauge = metrics.find(name).gauge();
    return gauge == null ? 0 : (long) gauge.value();
  }

  private long count(String name) {
    return (long) metrics.find(name).counters().stream().mapToDouble(Counter::count).sum();
  }

  private JsonArray upstreams() {
    Map<String, Optional<UpstreamMonitor.Problem>> problems = upstreams.problems();
    return new JsonArray(
        info.servers().get().stream()
            .map(server -> upstream(server, problems.getOrDefault(server.name(), Optional.empty())))
            .toList());
  }

  /** Describes an upstream; one in this process has no problem, since nobody watches it. */
  private static JsonObject upstream(
      GatewayInfo.Server server, Optional<UpstreamMonitor.Problem> problem) {
    JsonObject described =
        new JsonObject()
            .put("name", server.name())
            .put("path", server.path())
            .put("kind", server.kind())
            .put("up", problem.isEmpty());
    problem.ifPresent(
        down -> described.put("reason", down.reason()).put("since", down.since().toString()));
    return described;
  }

  private JsonArray replicas() {
    return new JsonArray(
        replicas.get().stream()
            .map(replica ->
                new JsonObject()
                    .put("id", replica.id().value())
                    .put("self", replica.id().value().equals(info.replica()))
                    .put("alive", replica.alive())
                    .put("silentMillis", replica.silence().toMillis()))
            .toList());
  }

  private static JsonObject session(SessionStore.Page.Entry entry) {
    Session session = entry.session();
    return new JsonObject()
        .put("key", key(session.id()))
        .put("id", session.id().toString())
        .put("client", session.client())
        .put("upstream", session.upstream())
        .put("version", session.version().wire())
        .put("created", session.created().toString())
        .put("lastUsed", entry.activity().lastUsed().toString())
        .put("requests", entry.activity().requests())
        .put("errors", entry.activity().errors())
        .put("address", entry.activity().address());
  }

  /**
   * Lists the streams of a session, the open ones first; empty if there is no such session.
   *
   * @throws LogException.StoreUnavailable when the store is away
   * @throws SessionStoreException when the store is away
   */
  Optional<JsonObject> streams(String key) {
    return find(key)
        .filter(session -> sessions.find(session.id()).isPresent())
        .map(session -> {
          StreamIndex.Page page = streams.list(StreamNames.key(session.id()), 0, MAX_STREAMS);
          return new JsonObject()
              .put("now", Instant.now().toEpochMilli())
              .put("streams", new JsonArray(page.streams().stream().map(Console::stream).toList()))
              .put("more", page.more());
        });
  }

  private static JsonObject stream(StreamIndex.Entry entry) {
    return new JsonObject()
        .put("name", entry.stream().name())
        .put("open", entry.open())
        .put("owner", entry.owner())
        .put("firstMillis", entry.first().millis())
        .put("lastMillis", entry.last().millis())
        .put("lastId", entry.stream().name() + "_" + entry.last())
        .put("events", entry.last().number())
        .put("kept", entry.kept());
  }

  /**
   * Ends a session everywhere.
   *
   * @return whether this call ended it
   * @throws SessionStoreException when the store is away
   */
  boolean end(String key) {
    return find(key).filter(session -> relay.sessions().end(session).sessions() == 1).isPresent();
  }

  private Optional<Session> find(String key) {
    if (!listed.containsKey(key)) {
      // Another replica may have shown it, or this one before a restart.
      List<SessionStore.Page.Entry> _ = list();
    }
    return Optional.ofNullable(listed.get(key));
  }
}
