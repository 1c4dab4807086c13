package dev.holdfast.session.redis;

import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisException;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.redis.RedisScript;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionActivity;
import dev.holdfast.session.SessionId;
import dev.holdfast.session.SessionLimits;
import dev.holdfast.session.SessionPage;
import dev.holdfast.session.SessionStore;
import dev.holdfast.session.SessionStoreException;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import io.vertx.redis.client.ResponseType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.regex.Pattern;
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

  private static final RedisScript CREATE = script("create.lua");
  private static final RedisScript COMPLETE_INITIALIZATION = script("complete-initialization.lua");
  private static final RedisScript READ = script("read.lua");
  private static final RedisScript RECORD_ACTIVITY = script("record-activity.lua");
  private static final RedisScript SAVE_STATE = script("save-state.lua");
  private static final RedisScript END = script("end.lua");
  private static final RedisScript END_EXPIRED = script("end-expired.lua");

  private static final Pattern CURSOR = Pattern.compile("\\d{1,20}");

  private final RedisClient redis;
  private final RedisKeys keys;
  private final Duration idleTimeout;
  private final Duration timeToLive;
  private final SessionExpiryIndex index;
  private final SessionListing listing;

  /**
   * Uses a client without closing it.
   *
   * @param idleTimeout time after which an unused session expires
   * @param timeToLive time after which Redis removes an expired session that no replica ended;
   *     longer than the idle timeout
   * @param limits maximum numbers of sessions
   */
  public RedisSessionStore(
      RedisClient redis,
      RedisKeys keys,
      Duration idleTimeout,
      Duration timeToLive,
      SessionLimits limits) {
    this.redis = redis;
    this.keys = keys;
    this.idleTimeout = idleTimeout;
    this.timeToLive = timeToLive;
    this.index = new SessionExpiryIndex(redis, keys, timeToLive, limits);
    this.listing = new SessionListing(redis, keys);
  }

  @Override
  public void create(Session session) {
    String id = session.id().value();
    Duration timeout = session.expiresAfter(idleTimeout);
    run(() -> index.add(id, session.upstream(), timeout));
    run(
        CREATE,
        keys.session(id),
        request -> {
          request.arg(timeout.toMillis()).arg(timeToLive.toMillis());
          SessionFields.addValues(request, session);
        });
  }

  @Override
  public boolean completeInitialization(Session session) {
    String id = session.id().value();
    Response expires =
        run(
            COMPLETE_INITIALIZATION,
            keys.session(id),
            request -> {
              request.arg(idleTimeout.toMillis()).arg(timeToLive.toMillis());
              SessionFields.addValues(request, session);
            });
    if (expires != null) {
      index.updateExpiryLater(id, expires.toString());
    }
    return expires != null;
  }

  @Override
  public Optional<Session> find(SessionId id) {
    return SessionFields.readSession(
        id, run(READ, keys.session(id.value()), SessionFields::addRecordNames));
  }

  @Override
  public void touch(SessionId id, SessionActivity since) {
    Response expires = record(id, idleTimeout, since);
    if (expires != null) {
      index.updateExpiryLater(id.value(), expires.toString());
    }
  }

  @Override
  public void recordActivity(SessionId id, SessionActivity since) {
    record(id, Duration.ZERO, since);
  }

  /** Returns when the session expires, if the idle timeout was started again. */
  private @Nullable Response record(SessionId id, Duration timeout, SessionActivity since) {
    return run(
        RECORD_ACTIVITY,
        keys.session(id.value()),
        request -> {
          request.arg(timeout.toMillis()).arg(timeToLive.toMillis());
          SessionFields.addValues(request, since);
        });
  }

  @Override
  public void saveUpstreamState(SessionId id, String name, byte[] value) {
    Response _ =
        run(
            SAVE_STATE,
            keys.session(id.value()),
            request -> request.arg(SessionFields.upstreamState(name)).arg(value));
  }

  @Override
  public Optional<byte[]> upstreamState(SessionId id, String name) {
    Response values =
        run(
            READ,
            keys.session(id.value()),
            request -> request.arg(SessionFields.upstreamState(name)));
    Response value = values == null ? null : values.get(0);
    return Optional.ofNullable(value).map(Response::toBytes);
  }

  @Override
  public boolean end(SessionId id) {
    Response removed = run(END, keys.session(id.value()), SessionFields::addAllNames);
    run(() -> index.remove(id.value()));
    return number(removed) > 0;
  }

  @Override
  public List<Session> endExpired(int most) {
    List<Session> ended = new ArrayList<>();
    for (String id : call(() -> index.expired(most))) {
      endExpired(id).ifPresent(ended::add);
    }
    return ended;
  }

  private Optional<Session> endExpired(String id) {
    Response record = run(END_EXPIRED, keys.session(id), SessionFields::addAllNames);
    if (record != null && record.type() != ResponseType.MULTI) {
      // The session was used since, and the index is out of date.
      run(() -> index.updateExpiry(id, record.toString()));
      return Optional.empty();
    }
    run(() -> index.remove(id));
    return SessionId.parse(id).flatMap(session -> SessionFields.readSession(session, record));
  }

  @Override
  public long count() {
    return number(send(Request.cmd(Command.ZCARD).arg(keys.sessions())));
  }

  @Override
  public SessionPage list(@Nullable String from, int about) {
    if (about < 1 || about > MAX_PAGE_SIZE || (from != null && !CURSOR.matcher(from).matches())) {
      throw new IllegalArgumentException("invalid cursor or page size");
    }
    return call(() -> listing.list(from, about));
  }

  private static long number(@Nullable Response reply) {
    return reply == null ? 0 : Long.parseLong(reply.toString());
  }

  private @Nullable Response send(Request request) {
    return RedisSessionStore.<@Nullable Response>call(() -> redis.send(request));
  }

  private @Nullable Response run(RedisScript script, String key, Consumer<Request> arguments) {
    return RedisSessionStore.<@Nullable Response>call(
        () -> script.run(redis, List.of(key), arguments));
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

  private static RedisScript script(String resource) {
    return RedisScript.load(RedisSessionStore.class, "common.lua", resource);
  }
}
