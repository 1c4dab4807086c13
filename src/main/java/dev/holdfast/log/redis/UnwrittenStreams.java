package dev.holdfast.log.redis;

import dev.holdfast.log.StreamRef;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisKeys;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Finds streams that are on record as this replica's and that it does not write. */
final class UnwrittenStreams {

  /** More fields than the hash of a session has, so that one reply has them all. */
  private static final int ALL_FIELDS = 10_000;

  private static final String OWNER = "o:";

  private final RedisClient link;
  private final RedisKeys keys;
  private final String replica;
  private final OwnedStreams owned;
  private final InboxScripts inboxes;

  UnwrittenStreams(
      RedisClient link, RedisKeys keys, String replica, OwnedStreams owned, InboxScripts inboxes) {
    this.link = link;
    this.keys = keys;
    this.replica = replica;
    this.owned = owned;
    this.inboxes = inboxes;
  }

  /** Those of some sessions, with the owner that is on record. */
  Map<StreamRef, String> among(Collection<String> sessions) {
    Map<StreamRef, String> found = new HashMap<>();
    List<String> all = List.copyOf(sessions);
    List<@Nullable Response> replies = link.sendMany(all.stream().map(this::owners).toList());
    for (int i = 0; i < all.size(); i++) {
      addUnwritten(all.get(i), replies.get(i), found);
    }
    return withoutPostponed(found);
  }

  private Request owners(String session) {
    return Request.cmd(Command.HSCAN)
        .arg(keys.session(session))
        .arg(0)
        .arg("MATCH")
        .arg(OWNER + "*")
        .arg("COUNT")
        .arg(ALL_FIELDS);
  }

  private void addUnwritten(String session, @Nullable Response scan, Map<StreamRef, String> found) {
    Response fields = scan == null ? null : scan.get(1);
    for (int i = 0; fields != null && i + 1 < fields.size(); i += 2) {
      String name = fields.get(i).toString().substring(OWNER.length());
      String owner = fields.get(i + 1).toString();
      StreamRef stream = new StreamRef(session, name);
      if (owner.startsWith(replica + ' ') && !owned.isWritten(stream)) {
        found.put(stream, owner);
      }
    }
  }

  /**
   * A stream that was opened in the name of this replica is written once its letter is received.
   */
  private Map<StreamRef, String> withoutPostponed(Map<StreamRef, String> found) {
    List<String> sessions = found.keySet().stream().map(StreamRef::session).distinct().toList();
    Set<String> waiting = Set.copyOf(inboxes.waiting(sessions));
    found.keySet().removeIf(stream -> waiting.contains(stream.session()));
    return found;
  }
}
