package dev.holdfast.session.redis;

import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.redis.RedisScript;
import dev.holdfast.session.SessionLimits;
import dev.holdfast.session.TooManySessionsException;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The sorted sets of sessions by when they expire: one of all, and one for each upstream whose
 * number of sessions is limited by itself. A session that is looked for where it is not costs
 * nothing but the question.
 */
final class SessionPlaces {

  private static final RedisScript REGISTER = RedisScript.load(SessionPlaces.class, "register.lua");
  private static final RedisScript EXPIRED = RedisScript.load(SessionPlaces.class, "expired.lua");

  private final RedisClient link;
  private final RedisKeys keys;
  private final Duration timeToLive;
  private final SessionLimits limits;
  private final List<String> sets;

  SessionPlaces(RedisClient link, RedisKeys keys, Duration timeToLive, SessionLimits limits) {
    this.link = link;
    this.keys = keys;
    this.timeToLive = timeToLive;
    this.limits = limits;
    this.sets =
        Stream.concat(
                Stream.of(keys.sessions()),
                limits.byUpstream().keySet().stream().sorted().map(keys::sessions))
            .toList();
  }

  /**
   * Gives a new session its places.
   *
   * @param timeout after which it expires, unless it is used
   * @throws TooManySessionsException if there is none left, of all or of the upstream
   */
  void take(String id, String upstream, Duration timeout) {
    OptionalInt own = limits.of(upstream);
    own.ifPresent(most -> register(keys.sessions(upstream), id, most, timeout));
    boolean taken = false;
    try {
      register(keys.sessions(), id, limits.all(), timeout);
      taken = true;
    } finally {
      if (!taken && own.isPresent()) {
        // Not waited for: what is left behind goes when it expires.
        var _ = link.sendLater(remove(keys.sessions(upstream), id));
      }
    }
  }

  private void register(String set, String id, int most, Duration timeout) {
    Response registered =
        REGISTER.run(
            link,
            List.of(set),
            request ->
                request.arg(id).arg(most).arg(timeout.toMillis()).arg(timeToLive.toMillis()));
    if (registered == null || registered.toString().equals("0")) {
      throw new TooManySessionsException(most);
    }
  }

  /** Puts a session where it belongs by now. One that has left a set stays out of it. */
  void move(String id, String expires) {
    var _ = link.sendAll(sets.stream().map(set -> place(set, id, expires)).toList());
  }

  /** As {@link #move}, and is not waited for: the sets may be on a server that is away. */
  void moveLater(String id, String expires) {
    for (String set : sets) {
      var _ = link.sendLater(place(set, id, expires));
    }
  }

  private static Request place(String set, String id, String expires) {
    return Request.cmd(Command.ZADD).arg(set).arg("XX").arg(expires).arg(id);
  }

  /** A session has ended. */
  void giveBack(String id) {
    var _ = link.sendAll(sets.stream().map(set -> remove(set, id)).toList());
  }

  private static Request remove(String set, String id) {
    return Request.cmd(Command.ZREM).arg(set).arg(id);
  }

  /** Those that have expired, by what the sets know; so many at the most. */
  List<String> expired(int most) {
    Set<String> expired = new LinkedHashSet<>();
    for (String set : sets) {
      @Nullable Response some =
          EXPIRED.run(link, List.of(set), request -> request.arg(most).arg(timeToLive.toMillis()));
      for (int i = 0; some != null && i < some.size(); i++) {
        expired.add(some.get(i).toString());
      }
    }
    return expired.stream().limit(most).toList();
  }
}
