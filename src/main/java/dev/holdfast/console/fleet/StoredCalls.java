package dev.holdfast.console.fleet;

import dev.holdfast.log.LogException;
import dev.holdfast.log.StreamIndex;
import dev.holdfast.log.StreamRef;
import dev.holdfast.redis.RedisException;
import dev.holdfast.relay.stream.CallState;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionStore;
import dev.holdfast.session.SessionStoreException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Complete calls that no replica has in memory, such as those of replicas that were stopped. One
 * replica reads them from the store while an operator looks, and reports them as its own calls. It
 * reads again when replicas have come or gone, and when nobody has looked for a while. Thread-safe.
 */
public final class StoredCalls {

  /** Time between two reads, and the pause after which a look is a new one. */
  public static final Duration AGAIN = Duration.ofMinutes(1);

  /** Sessions that are read, those that were used most recently first, and those of one step. */
  private static final int MAX_SESSIONS = 5000;

  private static final int PAGE = 100;

  /** Complete streams that are looked at: of one session, and in all. */
  private static final int MAX_STREAMS = 100;

  private static final int MAX_EXAMINED = 2 * Fleet.MOST;

  /** Leaves room for other commands. */
  private static final Duration PAUSE = Duration.ofMillis(100);

  private static final Logger LOG = Logger.getLogger(StoredCalls.class);

  private final SessionStore sessions;
  private final StreamIndex streams;
  private final BooleanSupplier turn;
  private final InstantSource clock;
  private final AtomicLong changes = new AtomicLong();

  private volatile List<JsonObject> found = List.of();

  // Guarded by the lock of the fleet.
  private @Nullable Set<String> alive;
  private long lookedAt;
  private long readAt = System.nanoTime() - AGAIN.toNanos();
  private boolean isWanted;

  /**
   * Creates the reader of calls.
   *
   * @param turn returns true on one replica at most within {@link #AGAIN}
   */
  public StoredCalls(
      SessionStore sessions, StreamIndex streams, BooleanSupplier turn, InstantSource clock) {
    this.sessions = sessions;
    this.streams = streams;
    this.turn = turn;
    this.clock = clock;
  }

  /**
   * Notes that an operator looks, and reads the store in the background if that may bring calls.
   *
   * @param replicas those that are there
   * @param room calls that are missing in the list
   * @param isKnown whether a call is in it
   */
  void look(Set<String> replicas, int room, Predicate<StreamRef> isKnown) {
    long now = System.nanoTime();
    isWanted |= !replicas.equals(alive) || now - lookedAt > AGAIN.toNanos();
    alive = replicas;
    lookedAt = now;
    if (!isWanted || room <= 0 || now - readAt < AGAIN.toNanos()) {
      return;
    }
    isWanted = false;
    readAt = now;
    Thread _ = Thread.ofVirtual().name("console-calls").start(() -> read(room, isKnown));
  }

  private void read(int room, Predicate<StreamRef> isKnown) {
    try {
      if (turn.getAsBoolean()) {
        readSessions(room, isKnown);
      }
    } catch (RedisException | SessionStoreException | LogException.StoreUnavailable away) {
      LOG.debugf("calls not read: %s", away.getMessage());
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  private void readSessions(int room, Predicate<StreamRef> isKnown) throws InterruptedException {
    int left = room;
    int examined = 0;
    for (int skip = 0; skip < MAX_SESSIONS && left > 0 && examined < MAX_EXAMINED; skip += PAGE) {
      List<Session> page =
          sessions.latest(skip, PAGE).stream().map(SessionStore.Page.Entry::session).toList();
      List<List<StreamRef>> complete =
          streams.complete(
              page.stream().map(each -> StreamNames.key(each.id())).toList(), MAX_STREAMS);
      List<JsonObject> calls = new ArrayList<>();
      for (int i = 0; i < page.size() && calls.size() < left; i++) {
        for (StreamRef stream : complete.get(i)) {
          if (calls.size() < left
              && examined < MAX_EXAMINED
              && StreamNames.answersRequests(stream)
              && !isKnown.test(stream)) {
            examined++;
            describe(page.get(i), stream).ifPresent(calls::add);
          }
        }
      }
      add(calls);
      left -= calls.size();
      if (page.size() < PAGE) {
        return;
      }
      Thread.sleep(PAUSE);
    }
  }

  private void add(List<JsonObject> calls) {
    if (!calls.isEmpty()) {
      found =
          Stream.concat(calls().stream().map(JsonObject.class::cast), calls.stream())
              .sorted(
                  Comparator.comparingLong((JsonObject call) -> call.getLong("started")).reversed())
              .limit(Fleet.MOST)
              .toList();
      long _ = changes.incrementAndGet();
    }
  }

  /** Describes a call as a replica reports it; empty if the stream is that of another request. */
  private Optional<JsonObject> describe(Session session, StreamRef stream) {
    return streams
        .find(stream)
        .filter(entry -> !entry.open())
        .flatMap(entry ->
            Optional.ofNullable(entry.details().opening())
                .filter(opening -> !opening.tool().isEmpty())
                .map(opening -> describe(session, entry, opening)));
  }

  private JsonObject describe(
      Session session, StreamIndex.Entry entry, StreamIndex.Opening opening) {
    long started = opening.started().toEpochMilli();
    long ended = entry.last().millis();
    StreamIndex.Details details = entry.details();
    Duration left = details.left() == null ? Duration.ZERO : details.left();
    return new JsonObject()
        .put("session", entry.stream().key().value())
        .put("stream", entry.stream().name())
        .put("stored", true)
        .put("until", clock.millis() + left.toMillis())
        .put("tool", opening.tool())
        .put("requests", "")
        .put("started", started)
        .put("owned", false)
        .put("takenOver", false)
        .put("waiting", false)
        .put("events", entry.last().number())
        .put("bytes", 0)
        .put("changed", ended)
        .put("end", end(entry))
        .put("connections", 0)
        .put("delivered", details.delivered())
        .put("early", "")
        .put(
            "steps",
            new JsonArray()
                .add(new JsonArray().add(started).add("started"))
                .add(new JsonArray().add(ended).add("ended")))
        .put("upstream", session.upstream())
        .put("principal", session.principal().recorded())
        .put("client", session.client())
        .put("version", session.version().wire())
        .put("agent", session.userAgent());
  }

  /** Reads the whole message only if its beginning does not tell. */
  private String end(StreamIndex.Entry entry) {
    StreamIndex.Message newest = entry.details().newest();
    CallState state =
        CallState.of(false, newest.beginning())
            .or(() ->
                newest.isWhole()
                    ? Optional.empty()
                    : CallState.of(false, streams.newestMessage(entry.stream())))
            .orElse(CallState.FAILED);
    return switch (state) {
      case FINISHED -> "result";
      case CANCELLED -> "cancelled";
      case FAILED, RUNNING, WAITING -> "error";
    };
  }

  /** The calls that the store still keeps, as parts of a report. */
  public JsonArray calls() {
    long now = clock.millis();
    return new JsonArray(found.stream().filter(call -> call.getLong("until") > now).toList());
  }

  /** A number that is another one after each change. */
  public long changes() {
    return changes.get();
  }
}
