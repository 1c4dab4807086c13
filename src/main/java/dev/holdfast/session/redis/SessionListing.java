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
 * Goes through the set of all sessions with a cursor, which holds up nobody, and reads the hash of
 * each. By cursor and not by rank: ranks shift whenever a session is used.
 */
final class SessionListing {

  private static final String START = "0";

  private final RedisClient link;
  private final RedisKeys keys;

  SessionListing(RedisClient link, RedisKeys keys) {
    this.link = link;
    this.keys = keys;
  }

  SessionPage list(@Nullable String from, int about) {
    Request scan =
        Request.cmd(Command.ZSCAN)
            .arg(keys.sessions())
            .arg(from == null ? START : from)
            .arg("COUNT")
            .arg(about);
    Response scanned = link.send(scan);
    if (scanned == null) {
      return new SessionPage(List.of(), Optional.empty());
    }
    String next = scanned.get(0).toString();
    return new SessionPage(
        read(members(scanned.get(1))), next.equals(START) ? Optional.empty() : Optional.of(next));
  }

  /** Of members and scores, the members; what is no id of ours is passed over. */
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
    // Redis gives a small set whole, whatever it is asked for: there may be many.
    List<@Nullable Response> records = link.sendMany(ids.stream().map(this::fields).toList());
    for (int i = 0; i < ids.size(); i++) {
      SessionFields.entry(ids.get(i), records.get(i), now).ifPresent(entries::add);
    }
    return entries;
  }

  private Request fields(SessionId id) {
    Request read = Request.cmd(Command.HMGET).arg(keys.session(id.value()));
    SessionFields.allNames(read);
    return read.arg(SessionFields.EXPIRES);
  }

  /** By the clock of Redis, as everything that expires. */
  private long now() {
    Response time = link.send(Request.cmd(Command.TIME));
    return time == null
        ? 0
        : Long.parseLong(time.get(0).toString()) * 1000
            + Long.parseLong(time.get(1).toString()) / 1000;
  }
}
