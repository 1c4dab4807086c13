package dev.holdfast.session.redis;

import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.session.SessionId;
import dev.holdfast.session.SessionPage;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Lists sessions: scans the index of all sessions with a cursor, and reads the hash of each. Scans
 * do not block Redis. Ranks cannot serve as cursors, since they shift whenever a session is used.
 */
final class SessionListing {

  private static final String START = "0";

  private final RedisClient redis;
  private final RedisKeys keys;

  SessionListing(RedisClient redis, RedisKeys keys) {
    this.redis = redis;
    this.keys = keys;
  }

  SessionPage list(@Nullable String from, int about) {
    Request scan =
        Request.cmd(Command.ZSCAN)
            .arg(keys.sessions())
            .arg(from == null ? START : from)
            .arg("COUNT")
            .arg(about);
    Response scanned = redis.send(scan);
    if (scanned == null) {
      return new SessionPage(List.of(), Optional.empty());
    }
    String next = scanned.get(0).toString();
    return new SessionPage(
        read(members(scanned.get(1))), next.equals(START) ? Optional.empty() : Optional.of(next));
  }

  /** The session ids in a list of members and scores. */
  private static List<SessionId> members(Response scored) {
    List<SessionId> members = new ArrayList<>();
    for (int i = 0; i < scored.size(); i += 2) {
      SessionId.parse(scored.get(i).toString()).ifPresent(members::add);
    }
    return members;
  }

  private List<SessionPage.Entry> read(List<SessionId> ids) {
    List<SessionPage.Entry> entries = new ArrayList<>();
    long now = now();
    // Redis returns a small set at once, whatever the requested count.
    List<@Nullable Response> records = redis.sendMany(ids.stream().map(this::fields).toList());
    for (int i = 0; i < ids.size(); i++) {
      SessionFields.readEntry(ids.get(i), records.get(i), now).ifPresent(entries::add);
    }
    return entries;
  }

  private Request fields(SessionId id) {
    Request read = Request.cmd(Command.HMGET).arg(keys.session(id.value()));
    SessionFields.addAllNames(read);
    return read.arg(SessionFields.EXPIRES);
  }

  /** The time by the clock of Redis, which decides when sessions expire. */
  private long now() {
    Response time = redis.send(Request.cmd(Command.TIME));
    return time == null
        ? 0
        : Long.parseLong(time.get(0).toString()) * 1000
            + Long.parseLong(time.get(1).toString()) / 1000;
  }
}
