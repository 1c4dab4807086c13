package dev.holdfast.console;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.call.SessionId;
import dev.holdfast.console.fleet.Fleet;
import dev.holdfast.lock.LruMap;
import dev.holdfast.log.LogException;
import dev.holdfast.log.StreamIndex;
import dev.holdfast.protocol.Sha256;
import dev.holdfast.relay.Relay;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.seal.Seal;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionStore;
import dev.holdfast.session.SessionStoreException;
import dev.holdfast.upstream.UpstreamMonitor;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
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

  /** Sessions on a page. Each costs a command of the store. */
  private static final int PAGE = 25;

  /** Pages of sessions, and descriptions of the gateway, that are kept for other operators. */
  private static final int KEPT = 20;

  private static final Duration STATUS_AGE = Duration.ofSeconds(3);
  private static final Duration PAGE_AGE = Duration.ofSeconds(20);
  private static final Duration HANDLE_LIFE = Duration.ofHours(1);
  private static final List<String> OF_SESSION = List.of("console-session");

  /** Maximum number of listed streams of a session. */
  private static final int MAX_STREAMS = 40;

  private static final int KEY_BYTES = 16;

  private final GatewayInfo info;
  private final IntSupplier port;
  private final SessionStore sessions;
  private final StreamIndex streams;
  private final Relay relay;
  private final UpstreamMonitor upstreams;
  private final Fleet fleet;
  private final Seal seal;

  /** Answers for all operators, by what was asked. */
  private final Map<String, Kept> kept = LruMap.create(KEPT);

  private record Kept(JsonObject answer, long readAt) {}

  /** Sources of what the console shows of sessions. */
  public record Stores(SessionStore sessions, StreamIndex streams, Seal seal) {}

  /**
   * Creates the console.
   *
   * @param port port for clients, which is known when the gateway listens
   */
  public Console(
      GatewayInfo info,
      IntSupplier port,
      Stores stores,
      Relay relay,
      UpstreamMonitor upstreams,
      Fleet fleet) {
    this.info = info;
    this.port = port;
    this.sessions = stores.sessions();
    this.streams = stores.streams();
    this.seal = stores.seal();
    this.relay = relay;
    this.upstreams = upstreams;
    this.fleet = fleet;
  }

  /** Settings for clients of the default server. */
  Snippets snippets() {
    String base = info.clientUrl().isEmpty() ? "http://127.0.0.1:" + port() : info.clientUrl();
    return new Snippets(base + "/mcp", info.needsKey());
  }

  int port() {
    return port.getAsInt();
  }

  /** Reads an answer again only when it is too old: many operators may look. */
  private JsonObject kept(String name, Duration age, Supplier<JsonObject> read) {
    Kept before = kept.get(name);
    // What is in memory costs nothing.
    if (before != null
        && !info.replica().isEmpty()
        && System.nanoTime() - before.readAt() < age.toNanos()) {
      return before.answer();
    }
    JsonObject answer = read.get();
    kept.put(name, new Kept(answer, System.nanoTime()));
    return answer;
  }

  /**
   * Describes the gateway, its upstreams and replicas.
   *
   * @throws SessionStoreException when the store is away
   */
  JsonObject status() {
    return kept("status", STATUS_AGE, this::readStatus);
  }

  private JsonObject readStatus() {
    return new JsonObject()
        .put("version", info.version())
        .put("store", info.store())
        .put(
            "started",
            ProcessHandle.current().info().startInstant().map(Instant::toString).orElse(null))
        .put("draining", relay.isDraining())
        .put("port", port())
        .put("clientUrl", info.clientUrl())
        .put("demo", info.demo())
        .put("counts", fleet.view().counts().copy().put("sessions", sessions.count()))
        .put("upstreams", upstreams())
        .put("replicas", replicas());
  }

  /**
   * Lists a page of sessions, those that were used most recently first.
   *
   * @param skip number of sessions before the page
   * @throws SessionStoreException when the store is away
   */
  JsonObject sessions(int skip) {
    return kept("sessions " + skip, PAGE_AGE, () -> readSessions(skip));
  }

  private JsonObject readSessions(int skip) {
    List<SessionStore.Page.Entry> found = sessions.latest(skip, PAGE + 1);
    return new JsonObject()
        .put("more", found.size() > PAGE)
        .put("page", PAGE)
        .put("sessions", new JsonArray(found.stream().limit(PAGE).map(this::session).toList()));
  }

  /** A name for a session that nobody can use as its id. */
  private static String key(SessionId id) {
    byte[] digest = Sha256.of(id.value().getBytes(UTF_8));
    return HexFormat.of().formatHex(digest, 0, KEY_BYTES);
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
    JsonObject described = server.json(problem.isEmpty());
    problem.ifPresent(
        down -> described.put("reason", down.reason()).put("since", down.since().toString()));
    return described;
  }

  private JsonArray replicas() {
    return new JsonArray(
        fleet.view().replicas().stream()
            .map(replica ->
                new JsonObject()
                    .put("id", replica.id().value())
                    .put("self", replica.id().value().equals(info.replica()))
                    .put("alive", replica.alive())
                    .put("silentMillis", replica.silence().toMillis()))
            .toList());
  }

  private JsonObject session(SessionStore.Page.Entry entry) {
    Session session = entry.session();
    return new JsonObject()
        .put("key", key(session.id()))
        .put("handle", handle(session.id()))
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

  /** A text that opens to the id of a session on each replica, and only there. */
  private String handle(SessionId id) {
    Instant end = seal.clock().instant().plus(HANDLE_LIFE);
    return seal.seal(id.value().getBytes(UTF_8), end, OF_SESSION);
  }

  /**
   * Lists the streams of a session, the open ones first; empty if there is no such session.
   *
   * @throws LogException.StoreUnavailable when the store is away
   * @throws SessionStoreException when the store is away
   */
  Optional<JsonObject> streams(String handle) {
    return find(handle)
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
   * @return the ended session; empty if this call has not ended it
   * @throws SessionStoreException when the store is away
   */
  Optional<Session> end(String handle) {
    Optional<Session> ended =
        find(handle).filter(session -> relay.sessions().end(session).sessions() == 1);
    kept.clear();
    return ended;
  }

  private Optional<Session> find(String handle) {
    return seal.open(handle, OF_SESSION)
        .flatMap(id -> SessionId.parse(new String(id, UTF_8)))
        .flatMap(sessions::find);
  }
}
