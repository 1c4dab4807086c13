package dev.holdfast.log.redis;

import static dev.holdfast.log.redis.script.StoreCalls.available;

import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.log.ownership.AdoptedStream;
import dev.holdfast.log.ownership.Adoption;
import dev.holdfast.log.redis.inbox.InboxScripts;
import dev.holdfast.log.redis.script.StreamField;
import dev.holdfast.log.redis.script.StreamOwner;
import dev.holdfast.log.redis.script.StreamScripts;
import dev.holdfast.log.redis.write.OwnedStreams;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisKeys;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Makes this replica the owner of streams that it opens or adopts. Finds streams that other
 * replicas adopted, and streams that this replica owns but does not write.
 */
final class StreamOwnership implements Adoption {

  /** More fields than a session hash has, so that one reply has all of them. */
  private static final int ALL_FIELDS = 10_000;

  private final RedisClient client;
  private final RedisKeys keys;
  private final String replica;
  private final Consumer<String> sessionRecorder;
  private final StreamScripts scripts;
  private final InboxScripts inboxes;
  private final OwnedStreams owned;

  /** By session: owners with claims of unknown outcome. */
  private final Map<String, String> unsettled = new ConcurrentHashMap<>();

  StreamOwnership(
      RedisClient client,
      RedisKeys keys,
      String replica,
      Consumer<String> sessionRecorder,
      StreamScripts scripts,
      InboxScripts inboxes,
      OwnedStreams owned) {
    this.client = client;
    this.keys = keys;
    this.replica = replica;
    this.sessionRecorder = sessionRecorder;
    this.scripts = scripts;
    this.inboxes = inboxes;
    this.owned = owned;
  }

  StreamWriter open(StreamRef stream, String requests, @Nullable String keptIn) {
    String owner = StreamOwner.withNewFence(replica);
    return owned.open(
        stream,
        owner,
        keptIn,
        () -> {
          sessionRecorder.accept(stream.session());
          scripts.open(stream, owner, requests, keptIn);
        });
  }

  @Override
  public List<AdoptedStream> adopt(String session, String previousOwner) {
    // A claim of unknown outcome is repeated with the same fence, so that it finds its streams.
    String owner = unsettled.computeIfAbsent(session, id -> StreamOwner.withNewFence(replica));
    List<AdoptedStream> claimed = claim(session, previousOwner, owner, Set.of());
    unsettled.remove(session, owner);
    return claimed;
  }

  /** If the outcome stays unknown, {@link #findOrphaned} finds the streams again. */
  @Override
  public List<AdoptedStream> reclaim(String session, Set<String> names) {
    return claim(session, replica, StreamOwner.withNewFence(replica), names);
  }

  private List<AdoptedStream> claim(
      String session, String previousOwner, String owner, Set<String> names) {
    List<StreamScripts.Claimed> claimed =
        available(
            "adopt streams",
            () -> {
              sessionRecorder.accept(session);
              return scripts.claim(session, previousOwner, owner, names);
            });
    return claimed.stream().map(each -> adopted(each, owner)).toList();
  }

  private AdoptedStream adopted(StreamScripts.Claimed claimed, String owner) {
    return new AdoptedStream(
        owned.add(claimed.stream(), owner, claimed.last(), claimed.keptIn()),
        claimed.requests(),
        claimed.upstreamId());
  }

  /** Sessions with a claim of unknown outcome. Their streams may have no writer. */
  Set<String> unsettledSessions() {
    return unsettled.keySet();
  }

  void forget(String session) {
    unsettled.remove(session);
  }

  @Override
  public Map<StreamRef, String> findOrphaned(Collection<String> sessions) {
    Map<StreamRef, String> found =
        available("look for streams without a writer", () -> findUnwritten(List.copyOf(sessions)));
    // A stream that was opened in the name of this replica gets its writer with its inbox message.
    List<String> among = found.keySet().stream().map(StreamRef::session).distinct().toList();
    Set<String> waiting = Set.copyOf(inboxes.waiting(among));
    found.keySet().removeIf(stream -> waiting.contains(stream.session()));
    return found;
  }

  private Map<StreamRef, String> findUnwritten(List<String> sessions) {
    Map<StreamRef, String> found = new HashMap<>();
    List<@Nullable Response> replies =
        client.sendMany(sessions.stream().map(this::owners).toList());
    for (int i = 0; i < sessions.size(); i++) {
      addUnwritten(sessions.get(i), replies.get(i), found);
    }
    return found;
  }

  private Request owners(String session) {
    return Request.cmd(Command.HSCAN)
        .arg(keys.session(session))
        .arg(0)
        .arg("MATCH")
        .arg(StreamField.OWNER.prefix() + "*")
        .arg("COUNT")
        .arg(ALL_FIELDS);
  }

  private void addUnwritten(String session, @Nullable Response scan, Map<StreamRef, String> found) {
    Response fields = scan == null ? null : scan.get(1);
    for (int i = 0; fields != null && i + 1 < fields.size(); i += 2) {
      String name = fields.get(i).toString().substring(StreamField.OWNER.prefix().length());
      StreamRef stream = new StreamRef(session, name);
      if (isOwn(fields.get(i + 1)) && !owned.isWritten(stream)) {
        found.put(stream, fields.get(i + 1).toString());
      }
    }
  }

  @Override
  public Set<StreamRef> findTakenOver(Collection<StreamRef> streams) {
    Set<StreamRef> lost = new HashSet<>();
    List<StreamRef> all = List.copyOf(streams);
    List<Request> requests =
        all.stream().map(stream -> StreamField.OWNER.get(keys, stream)).toList();
    List<@Nullable Response> owners =
        available("look for lost streams", () -> client.sendMany(requests));
    for (int i = 0; i < all.size(); i++) {
      if (!isOwn(owners.get(i))) {
        lost.add(all.get(i));
      }
    }
    return lost;
  }

  private boolean isOwn(@Nullable Response owner) {
    return owner != null && StreamOwner.replicaOf(owner.toString()).equals(replica);
  }
}
