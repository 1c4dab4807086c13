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
import dev.holdfast.session.Transport;
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
 * <p>A session is a hash, which the log shares; {@code expires} in it says when the session does,
 * by the clock of Redis. Sorted sets of sessions by that time serve to count them and to find those
 * that expired, see {@link SessionPlaces}. They live in other slots of a cluster, so hash and sets
 * change one after the other; the hash decides, and the sets follow.
 */
public final class RedisSessionStore implements SessionStore {

  private static final RedisScript CREATE = script("create.lua");
  private static final RedisScript INITIALIZED = script("initialized.lua");
  private static final RedisScript FIND = script("find.lua");
  private static final RedisScript TOUCH = script("touch.lua");
  private static final RedisScript KEEP = script("keep.lua");
  private static final RedisScript END = script("end.lua");
  private static final RedisScript TAKE = script("take.lua");

  private static final Pattern CURSOR = Pattern.compile("\\d{1,20}");

  private final RedisClient link;
  private final RedisKeys keys;
  private final Duration idleTimeout;
  private final Duration timeToLive;
  private final SessionPlaces places;
  private final SessionListing listing;

  /**
   * Uses a connection that is not its own.
   *
   * @param idleTimeout after which an unused session expires
   * @param timeToLive after which Redis forgets a session that nobody took when it expired; longer
   *     than the idle time-out
   * @param limits the most sessions at a time
   */
  public RedisSessionStore(
      RedisClient link,
      RedisKeys keys,
      Duration idleTimeout,
      Duration timeToLive,
      SessionLimits limits) {
    this.link = link;
    this.keys = keys;
    this.idleTimeout = idleTimeout;
    this.timeToLive = timeToLive;
    this.places = new SessionPlaces(link, keys, timeToLive, limits);
    this.listing = new SessionListing(link, keys);
  }

  @Override
  public void create(Session session) {
    String id = session.id().value();
    Duration first =
        session.isInitialized() || idleTimeout.compareTo(OPENING_TIMEOUT) < 0
            ? idleTimeout
            : OPENING_TIMEOUT;
    ordered(() -> places.take(id, session.upstream(), first));
    run(
        CREATE,
        keys.session(id),
        request -> {
          request.arg(first.toMillis()).arg(timeToLive.toMillis());
          SessionFields.write(request, session);
        });
  }

  @Override
  public boolean completeInitialization(Session session) {
    String id = session.id().value();
    Response expires =
        run(
            INITIALIZED,
            keys.session(id),
            request -> {
              request.arg(Transport.SSE_OPENING.recorded());
              request.arg(idleTimeout.toMillis()).arg(timeToLive.toMillis());
              SessionFields.write(request, session);
            });
    if (expires != null) {
      // As after a touch.
      places.moveLater(id, expires.toString());
    }
    return expires != null;
  }

  @Override
  public Optional<Session> find(SessionId id) {
    return SessionFields.read(id, run(FIND, keys.session(id.value()), SessionFields::names));
  }

  @Override
  public void touch(SessionId id, SessionActivity since) {
    Response expires = use(id, idleTimeout, since);
    if (expires != null) {
      // Not waited for: the set may be on a server that is away, and catches up when swept.
      places.moveLater(id.value(), expires.toString());
    }
  }

  @Override
  public void recordActivity(SessionId id, SessionActivity since) {
    use(id, Duration.ZERO, since);
  }

  /** Returns when the session expires, if that was put off. */
  private @Nullable Response use(SessionId id, Duration putOff, SessionActivity since) {
    return run(
        TOUCH,
        keys.session(id.value()),
        request -> {
          request.arg(putOff.toMillis()).arg(timeToLive.toMillis());
          SessionFields.write(request, since);
        });
  }

  @Override
  public void saveUpstreamState(SessionId id, String name, byte[] value) {
    Response _ =
        run(
            KEEP,
            keys.session(id.value()),
            request -> request.arg(SessionFields.kept(name)).arg(value));
  }

  @Override
  public Optional<byte[]> upstreamState(SessionId id, String name) {
    Response values =
        run(FIND, keys.session(id.value()), request -> request.arg(SessionFields.kept(name)));
    Response value = values == null ? null : values.get(0);
    return Optional.ofNullable(value).map(Response::toBytes);
  }

  @Override
  public boolean end(SessionId id) {
    Response removed = run(END, keys.session(id.value()), SessionFields::allNames);
    ordered(() -> places.giveBack(id.value()));
    return number(removed) > 0;
  }

  @Override
  public List<Session> endExpired(int most) {
    List<Session> taken = new ArrayList<>();
    for (String id : asked(() -> places.expired(most))) {
      take(id).ifPresent(taken::add);
    }
    return taken;
  }

  private Optional<Session> take(String id) {
    Response record = run(TAKE, keys.session(id), SessionFields::allNames);
    if (record != null && record.type() != ResponseType.MULTI) {
      // Used since: the set is behind the hash.
      ordered(() -> places.move(id, record.toString()));
      return Optional.empty();
    }
    ordered(() -> places.giveBack(id));
    return SessionId.parse(id).flatMap(session -> SessionFields.read(session, record));
  }

  @Override
  public long count() {
    return number(send(Request.cmd(Command.ZCARD).arg(keys.sessions())));
  }

  @Override
  public SessionPage list(@Nullable String from, int about) {
    if (about < 1 || about > MAX_PAGE_SIZE || (from != null && !CURSOR.matcher(from).matches())) {
      throw new IllegalArgumentException("no such page, or too large");
    }
    return asked(() -> listing.list(from, about));
  }

  private static long number(@Nullable Response reply) {
    return reply == null ? 0 : Long.parseLong(reply.toString());
  }

  private @Nullable Response send(Request request) {
    return RedisSessionStore.<@Nullable Response>asked(() -> link.send(request));
  }

  private @Nullable Response run(RedisScript script, String key, Consumer<Request> arguments) {
    return RedisSessionStore.<@Nullable Response>asked(
        () -> script.run(link, List.of(key), arguments));
  }

  private static void ordered(Runnable order) {
    boolean _ =
        asked(() -> {
          order.run();
          return true;
        });
  }

  private static <T extends @Nullable Object> T asked(Supplier<T> question) {
    try {
      return question.get();
    } catch (RedisException away) {
      throw new SessionStoreException(away);
    }
  }

  private static RedisScript script(String resource) {
    return RedisScript.load(RedisSessionStore.class, resource);
  }
}
