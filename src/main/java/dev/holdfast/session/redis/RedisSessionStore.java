package dev.holdfast.session.redis;

import static dev.holdfast.redis.RedisClient.number;
import static java.util.Objects.requireNonNull;

import dev.holdfast.call.SessionId;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisException;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.redis.RedisScript;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionActivity;
import dev.holdfast.session.SessionLimits;
import dev.holdfast.session.SessionStore;
import dev.holdfast.session.SessionStoreException;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import io.vertx.redis.client.ResponseType;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Sessions in Redis.
 *
 * <p>A session is a hash, which the log also uses. The hash holds the time when the session
 * expires, by the clock of Redis. The {@link SessionExpiryIndex} counts sessions and finds expired
 * ones. On a cluster the index is in another slot than the hash, so both change one after the
 * other. The hash decides, and the index follows.
 */
public final class RedisSessionStore implements SessionStore {

  /** With one of three servers away, all tries fail for one session in 43 million. */
  private static final int ID_TRIES = 16;

  /** Pages of expired sessions of which all may be those of servers that are away. */
  private static final int MOST_PAGES = 10;

  private static final String FIRST_PAGE = "0";
  private static final Pattern CURSOR = Pattern.compile("\\d{1,20}");

  private final RedisClient redis;
  private final RedisKeys keys;
  private final RedisScript create;
  private final RedisScript completeInitialization;
  private final RedisScript read;
  private final RedisScript saveState;
  private final RedisScript replaceState;
  private final RedisScript end;
  private final RedisScript endExpired;
  private final Duration idleTimeout;
  private final Duration timeToLive;
  private final SessionExpiryIndex index;
  private final ActivityRecorder activity;

  /**
   * Uses a client without closing it.
   *
   * @param idleTimeout time after which an unused session expires
   * @param timeToLive time after which Redis removes an expired session that no replica ended;
   *     longer than the idle timeout
   * @param limits maximum numbers of sessions; may change
   */
  public RedisSessionStore(
      RedisClient redis,
      RedisKeys keys,
      Duration idleTimeout,
      Duration timeToLive,
      Supplier<SessionLimits> limits) {
    this.redis = redis;
    this.keys = keys;
    this.create = SessionFields.script(redis, "create.lua");
    this.completeInitialization = SessionFields.script(redis, "complete-initialization.lua");
    this.read = SessionFields.script(redis, "read.lua");
    this.saveState = SessionFields.script(redis, "save-state.lua");
    this.replaceState = SessionFields.script(redis, "replace-state.lua");
    this.end = SessionFields.script(redis, "end.lua");
    this.endExpired = SessionFields.script(redis, "end-expired.lua");
    this.idleTimeout = idleTimeout;
    this.timeToLive = timeToLive;
    this.index = new SessionExpiryIndex(redis, keys, timeToLive, limits);
    this.activity = new ActivityRecorder(redis, keys, timeToLive);
  }

  /** After some tries, the id may belong to a server that is away. */
  @Override
  public SessionId newId() {
    SessionId id = SessionId.random();
    for (int i = 1; i < ID_TRIES && redis.isAway(keys.session(id.value())); i++) {
      id = SessionId.random();
    }
    return id;
  }

  @Override
  public void create(Session session) {
    run(redis::requireLayout); // No replica begins a session beside data of another layout.
    boolean crowded = call(() -> index.add(session, Session.openingTimeout(idleTimeout, false)));
    Response created;
    try {
      created =
          run(
              create,
              session.id(),
              Session.openingTimeout(idleTimeout, crowded).toMillis(),
              timeToLive.toMillis(),
              SessionFields.namesAndValues(session));
    } catch (SessionStoreException failure) {
      index.removeLater(session);
      throw failure;
    }
    if (crowded) {
      boolean _ = updateIndex(session.id(), created);
    }
  }

  @Override
  public boolean completeInitialization(Session session) {
    Response extended =
        run(
            completeInitialization,
            session.id(),
            idleTimeout.toMillis(),
            timeToLive.toMillis(),
            SessionFields.namesAndValues(session));
    return updateIndex(session.id(), extended);
  }

  /** Records when a session expires, if its hash tells so. */
  private boolean updateIndex(SessionId id, @Nullable Response extended) {
    if (extended != null) {
      index.updateExpiryLater(List.of(SessionExpiryIndex.entry(id, extended)));
    }
    return extended != null;
  }

  @Override
  public Optional<Session> find(SessionId id) {
    Optional<Session> found = SessionFields.readSession(id, run(read, id, SessionFields.RECORD));
    if (found.isEmpty()) {
      // A primary that was voted out does not know the sessions of the new one.
      Response _ = call(() -> redis.send(RedisClient.noOpWrite(keys.check(id.value()))));
    }
    return found;
  }

  @Override
  public Set<SessionId> touch(Map<SessionId, SessionActivity> since) {
    List<SessionExpiryIndex.Entry> extended = new ArrayList<>();
    Set<SessionId> missed =
        call(() ->
            activity.record(
                since, idleTimeout, (id, end) -> extended.add(SessionExpiryIndex.entry(id, end))));
    index.updateExpiryLater(extended);
    return missed;
  }

  @Override
  public void recordActivity(Map<SessionId, SessionActivity> since) {
    Set<SessionId> _ = call(() -> activity.record(since, Duration.ZERO, (_, _) -> {}));
  }

  @Override
  public Optional<Instant> lastUsed(SessionId id) {
    return SessionFields.readLastUsed(run(read, id, SessionFields.LAST_USED));
  }

  @Override
  public void saveUpstreamState(SessionId id, String name, byte[] value) {
    Response _ = run(saveState, id, SessionFields.upstreamState(name), value);
  }

  @Override
  public Optional<byte[]> upstreamState(SessionId id, String name) {
    Response values = run(read, id, SessionFields.upstreamState(name));
    Response value = values == null ? null : values.get(0);
    return Optional.ofNullable(value).map(Response::toBytes);
  }

  @Override
  public boolean replaceUpstreamState(
      SessionId id, String name, byte @Nullable [] expected, byte @Nullable [] value) {
    Response replaced =
        run(
            replaceState,
            id,
            SessionFields.upstreamState(name),
            optional(expected),
            optional(value));
    return number(requireNonNull(replaced)) > 0;
  }

  private static byte[] optional(byte @Nullable [] value) {
    byte[] argument = new byte[value == null ? 0 : value.length + 1];
    if (value != null) {
      argument[0] = '+';
      System.arraycopy(value, 0, argument, 1, value.length);
    }
    return argument;
  }

  @Override
  public boolean end(SessionId id) {
    Response removed = requireNonNull(run(end, id, SessionFields.ALL));
    index.remove(id.value(), removed.get(1).toString());
    return number(removed.get(0)) > 0;
  }

  /** {@inheritDoc} A session that cannot be ended now comes again, after the others. */
  @Override
  public List<Session> endExpired(int most) {
    List<Session> ended = new ArrayList<>();
    for (int page = 0; page < MOST_PAGES && ended.isEmpty(); page++) {
      List<String> expired = call(() -> index.expired(most));
      if (expired.isEmpty() || !endAll(expired, ended)) {
        return ended;
      }
    }
    return ended;
  }

  /** Ends expired sessions; returns false if the store is away. */
  private boolean endAll(List<String> expired, List<Session> ended) {
    for (String each : expired) {
      SessionId id = SessionId.parse(each).orElse(null);
      if (id == null) {
        continue; // Not written by a gateway.
      }
      try {
        endExpired(id).ifPresent(ended::add);
      } catch (SessionStoreException failure) {
        index.lookLater(each);
        if (!redis.isAway(keys.session(each))) {
          if (ended.isEmpty()) {
            throw failure;
          }
          return false;
        }
      }
    }
    return true;
  }

  private Optional<Session> endExpired(SessionId id) {
    Response record = run(endExpired, id, SessionFields.ALL);
    if (record != null && record.type() != ResponseType.MULTI) {
      // The session was used since, and the index is out of date.
      run(() -> index.updateExpiry(id.value(), record.toString()));
      return Optional.empty();
    }
    Optional<Session> ended = SessionFields.readSession(id, record);
    index.remove(id.value(), ended.map(Session::opener).orElse(""));
    return ended;
  }

  @Override
  public long count() {
    Request size = Request.cmd(Command.ZCARD, keys.sessions());
    return call(() -> number(redis.send(size)));
  }

  @Override
  public Page list(@Nullable String from, int about) {
    SessionStore.requirePageSize(about);
    if (from != null && !CURSOR.matcher(from).matches()) {
      throw new IllegalArgumentException("invalid cursor");
    }
    return call(() -> scan(from == null ? FIRST_PAGE : from, about));
  }

  @Override
  public List<Page.Entry> latest(int skip, int most) {
    SessionStore.requirePageSize(most);
    Request newest = Request.cmd(Command.ZRANGE, keys.sessions(), skip, skip + most - 1, "REV");
    return call(() -> entries(requireNonNull(redis.send(newest)).stream()));
  }

  /**
   * Scans the index of all sessions with a cursor, and reads the hash of each. Scans do not block
   * Redis. Ranks cannot serve as cursors, since they shift whenever a session is used.
   */
  private Page scan(String from, int about) {
    Response scanned =
        requireNonNull(
            redis.send(Request.cmd(Command.ZSCAN, keys.sessions(), from, "COUNT", about)));
    Response members = scanned.get(1);
    Optional<String> next =
        Optional.of(scanned.get(0).toString()).filter(cursor -> !cursor.equals(FIRST_PAGE));
    return new Page(
        entries(IntStream.range(0, members.size() / 2).mapToObj(i -> members.get(2 * i))), next);
  }

  private List<Page.Entry> entries(Stream<Response> members) {
    List<SessionId> ids =
        members.flatMap(each -> SessionId.parse(each.toString()).stream()).toList();
    List<Page.Entry> entries = new ArrayList<>();
    long now = redis.currentMillis();
    // Redis returns a small set at once, whatever the requested count.
    List<@Nullable Response> records = redis.sendMany(ids.stream().map(this::fields).toList());
    for (int i = 0; i < ids.size(); i++) {
      SessionFields.readEntry(ids.get(i), records.get(i), now).ifPresent(entries::add);
    }
    return entries;
  }

  private Request fields(SessionId id) {
    Request fields = Request.cmd(Command.HMGET).arg(keys.session(id.value()));
    SessionFields.ALL.forEach(fields::arg);
    return fields.arg(SessionFields.EXPIRES);
  }

  private @Nullable Response run(RedisScript script, SessionId id, Object... arguments) {
    return RedisSessionStore.<@Nullable Response>call(() -> script.run(sessionKey(id), arguments));
  }

  private List<String> sessionKey(SessionId id) {
    return List.of(keys.session(id.value()));
  }

  private static void run(Runnable action) {
    boolean _ =
        call(() -> {
          action.run();
          return true;
        });
  }

  private static <T extends @Nullable Object> T call(Supplier<T> action) {
    try {
      return action.get();
    } catch (RedisException failure) {
      throw new SessionStoreException(failure);
    }
  }
}
