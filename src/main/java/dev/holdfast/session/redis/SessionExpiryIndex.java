package dev.holdfast.session.redis;

import dev.holdfast.call.SessionId;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisException;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.redis.RedisScript;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionLimits;
import dev.holdfast.session.TooManySessionsException;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jboss.logging.Logger;

/**
 * Sorted sets of sessions by the time when they expire: one of all sessions, one for each upstream
 * with a limit of its own, and one for each opener. Updates and removals go to the sets of all
 * upstreams, since those without the session ignore them.
 */
final class SessionExpiryIndex {

  private static final Logger LOG = Logger.getLogger(SessionExpiryIndex.class);

  /** Entries of one command, for which no other one waits long. */
  private static final int MOST_AT_ONCE = 100;

  /** Sessions that are entered later, at most. */
  private static final int MOST_MISSING = 10_000;

  /** A substitute for the number of sessions in a set. */
  private static final int UNKNOWN = -1;

  /** Sessions that the set of all sessions lacks, since its server was away. */
  private final Set<String> missing = ConcurrentHashMap.newKeySet();

  private final RedisScript addWithinLimit;
  private final RedisScript listExpired;
  private final RedisClient redis;
  private final RedisKeys keys;
  private final Duration timeToLive;
  private final Supplier<SessionLimits> limits;

  SessionExpiryIndex(
      RedisClient redis, RedisKeys keys, Duration timeToLive, Supplier<SessionLimits> limits) {
    this.addWithinLimit = SessionFields.script(redis, "add-within-limit.lua");
    this.listExpired = SessionFields.script(redis, "list-expired.lua");
    this.redis = redis;
    this.keys = keys;
    this.timeToLive = timeToLive;
    this.limits = limits;
  }

  private List<String> sets() {
    return Stream.concat(
            Stream.of(keys.sessions()),
            limits.get().byUpstream().keySet().stream().sorted().map(keys::sessions))
        .toList();
  }

  /**
   * Adds a new session.
   *
   * @param timeout time after which the session expires, unless it is used
   * @return whether few places are left of those for one of the limits
   * @throws TooManySessionsException when the limit of all sessions, of the upstream or of the
   *     opener is reached
   */
  boolean add(Session session, Duration timeout) {
    String id = session.id().value();
    String opened = keys.openedSessions(session.opener());
    SessionLimits most = limits.get();
    OptionalInt own = most.of(session.upstream());
    // No sweep looks at the sets of openers, so each addition removes what has expired.
    boolean crowded = addWithinLimit(opened, id, most.perOpener(), timeout, true);
    try {
      if (own.isPresent()) {
        String set = keys.sessions(session.upstream());
        crowded |= addWithinLimit(set, id, own.getAsInt(), timeout, false);
      }
      crowded |= addWithinLimit(keys.sessions(), id, most.all(), timeout, false);
      return crowded;
    } catch (Throwable failure) {
      removeLater(session);
      throw failure;
    }
  }

  /** Does not wait: if this fails, the entries go when they expire. */
  void removeLater(Session session) {
    String id = session.id().value();
    missing.remove(id);
    allSets(session.opener()).forEach(set -> redis.sendLater(removal(set, id)));
  }

  /** Removes a session that has ended. If this fails, the entries go when they expire. */
  void remove(String id, String opener) {
    missing.remove(id);
    try {
      sendToAll(allSets(opener), set -> removal(set, id));
    } catch (RedisException failure) {
      LOG.debugf("entries of a session not removed session=%s: %s", id, failure.getMessage());
    }
  }

  /** Lets the search for expired sessions find a session after the others. Does not wait. */
  void lookLater(String id) {
    updateExpiryLater(List.of(new Entry(id, "", Long.toString(System.currentTimeMillis()))));
  }

  /** Sends a command to each of some sets, in which it may be repeated. */
  private void sendToAll(List<String> sets, Function<String, Request> command) {
    try {
      var _ = redis.sendAll(sets.stream().map(command).toList());
    } catch (RedisException failure) {
      if (sets.stream().noneMatch(redis::isAway)) {
        throw failure;
      }
      sets.forEach(set ->
          redis.unlessAway(set, () -> RedisClient.number(redis.send(command.apply(set))), 0L));
    }
  }

  private boolean addWithinLimit(
      String set, String id, int most, Duration timeout, boolean removeExpired) {
    List<Object> times = List.of(timeout.toMillis(), timeToLive.toMillis());
    int taken =
        redis.unlessAway(
            set,
            () ->
                Integer.parseInt(
                    addWithinLimit.runForText(
                        List.of(set), id, most, times, removeExpired ? 1 : 0)),
            UNKNOWN);
    if (taken == UNKNOWN) {
      if (set.equals(keys.sessions()) && missing.size() < MOST_MISSING) {
        missing.add(id);
      }
      return false;
    }
    if (taken >= most) {
      throw new TooManySessionsException(most);
    }
    return SessionLimits.isCrowded(taken, most);
  }

  /** Updates the time when a session expires. Does not add a removed session again. */
  void updateExpiry(String id, String expires) {
    sendToAll(sets(), set -> update(set, id, expires));
  }

  /** The end of a session's idle timeout, in ms since the epoch, and who opened it. */
  record Entry(String id, String opener, String expires) {}

  /** Returns the entry of a session from its end and its opener. */
  static Entry entry(SessionId id, Response extended) {
    return new Entry(id.value(), extended.get(1).toString(), extended.get(0).toString());
  }

  /**
   * Does the same as {@link #updateExpiry} without waiting, since the server of the index may be
   * down. {@link RedisSessionStore#endExpired} repairs an update that was lost.
   */
  void updateExpiryLater(List<Entry> entries) {
    sets().forEach(set -> updateLater(set, entries));
    entries.stream()
        .collect(Collectors.groupingBy(Entry::opener))
        .forEach((opener, own) -> updateLater(keys.openedSessions(opener), own));
  }

  private void updateLater(String set, List<Entry> entries) {
    for (int from = 0; from < entries.size(); from += MOST_AT_ONCE) {
      Request update = Request.cmd(Command.ZADD).arg(set).arg("XX");
      entries
          .subList(from, Math.min(entries.size(), from + MOST_AT_ONCE))
          .forEach(each -> update.arg(each.expires()).arg(each.id()));
      var _ = redis.sendLater(update);
    }
  }

  private static Request update(String set, String id, String expires) {
    return Request.cmd(Command.ZADD, set, "XX", expires, id);
  }

  private List<String> allSets(String opener) {
    return Stream.concat(sets().stream(), Stream.of(keys.openedSessions(opener))).toList();
  }

  private static Request removal(String set, String id) {
    return Request.cmd(Command.ZREM, set, id);
  }

  /**
   * Enters sessions that are missing, as expired ones. The search for expired sessions corrects
   * that, or removes those that have ended.
   */
  private void enterMissing() {
    List<String> some = missing.stream().limit(MOST_AT_ONCE).toList();
    if (some.isEmpty()) {
      return;
    }
    Request add = Request.cmd(Command.ZADD).arg(keys.sessions()).arg("NX");
    some.forEach(id -> add.arg(0).arg(id));
    if (redis.unlessAway(keys.sessions(), () -> redis.send(add) != null, false)) {
      some.forEach(missing::remove);
    }
  }

  List<String> expired(int most) {
    enterMissing();
    List<String> expired =
        sets().stream()
            .flatMap(set ->
                redis
                    .unlessAway(
                        set,
                        () -> listExpired.runForList(List.of(set), most, timeToLive.toMillis()),
                        List.<Response>of())
                    .stream())
            .map(Response::toString)
            .distinct()
            .toList();
    return expired.subList(0, Math.min(most, expired.size()));
  }
}
