package dev.holdfast.log.redis;

import static dev.holdfast.log.redis.script.StoreCalls.available;

import dev.holdfast.log.Inbox;
import dev.holdfast.log.SharedLog;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.log.WatcherRegistry;
import dev.holdfast.log.redis.script.StreamField;
import dev.holdfast.log.redis.script.StreamOwner;
import dev.holdfast.log.redis.script.StreamScripts;
import dev.holdfast.log.redis.write.OwnedStreams;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisKeys;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.Collection;
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
final class StreamOwnership implements SharedLog {

  private final RedisClient client;
  private final RedisKeys keys;
  private final String replica;
  private final Consumer<String> sessionRecorder;
  private final StreamScripts scripts;
  private final InboxScripts inboxes;
  private final RedisInbox inbox;
  private final OwnedStreams owned;
  private final WatcherRegistry watchers;

  /** By session: owners with claims of unknown outcome. */
  private final Map<String, String> unsettled = new ConcurrentHashMap<>();

  StreamOwnership(
      RedisClient client,
      RedisKeys keys,
      String replica,
      Consumer<String> sessionRecorder,
      StreamScripts scripts,
      InboxScripts inboxes,
      RedisInbox inbox,
      OwnedStreams owned,
      WatcherRegistry watchers) {
    this.client = client;
    this.keys = keys;
    this.replica = replica;
    this.sessionRecorder = sessionRecorder;
    this.scripts = scripts;
    this.inboxes = inboxes;
    this.inbox = inbox;
    this.owned = owned;
    this.watchers = watchers;
  }

  /**
   * Opens a stream.
   *
   * @param followed whether a tail of this replica follows at once
   */
  StreamWriter open(StreamRef stream, String requests, @Nullable String keptIn, boolean followed) {
    String owner = StreamOwner.withNewFence(replica);
    return owned.open(
        stream,
        owner,
        keptIn,
        followed,
        () -> {
          sessionRecorder.accept(stream.session());
          scripts.open(stream, owner, requests, keptIn, followed);
        });
  }

  @Override
  public Inbox inbox() {
    return inbox;
  }

  @Override
  public void evictReplacedWatchers() {
    List<WatcherRegistry.Registration> all = watchers.recorded();
    List<@Nullable Response> tails =
        get(StreamField.TAIL, all.stream().map(WatcherRegistry.Registration::stream).toList());
    for (int i = 0; i < all.size(); i++) {
      Response tail = tails.get(i);
      // A complete stream has no record: its watcher reads to the end.
      if (tail != null && !isOwn(tail.toString())) {
        watchers.evict(all.get(i).stream(), all.get(i).number());
      }
    }
  }

  @Override
  public List<AdoptedStream> adopt(String session, String previousOwner) {
    // A claim of unknown outcome is repeated with the same fence, so that it finds its streams.
    String owner = unsettled.computeIfAbsent(session, id -> StreamOwner.withNewFence(replica));
    List<AdoptedStream> claimed = claim(session, previousOwner, owner, Set.of());
    unsettled.remove(session, owner);
    if (!claimed.isEmpty()) {
      // Messages that the lost replica did not collect were announced to it alone.
      inbox.announce(session);
    }
    return claimed;
  }

  /** If the outcome stays unknown, {@link #findOrphaned} finds the streams again. */
  @Override
  public List<AdoptedStream> reclaim(String session, Set<String> names) {
    return claim(session, replica, StreamOwner.withNewFence(replica), names);
  }

  private List<AdoptedStream> claim(
      String session, String previousOwner, String owner, Set<String> names) {
    Collection<StreamScripts.Claimed> claimed =
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
        available(
            "look for streams without a writer",
            () -> StreamField.OWNER.scan(client, keys, sessions));
    found.entrySet().removeIf(each -> !isOwn(each.getValue()) || owned.isWritten(each.getKey()));
    // A stream that was opened in the name of this replica gets its writer with its inbox message.
    List<String> among = found.keySet().stream().map(StreamRef::session).distinct().toList();
    Set<String> waiting = Set.copyOf(inboxes.waiting(among));
    found.keySet().removeIf(stream -> waiting.contains(stream.session()));
    return found;
  }

  @Override
  public Set<StreamRef> findTakenOver(Collection<StreamRef> streams) {
    List<StreamRef> all = List.copyOf(streams);
    List<@Nullable Response> owners = get(StreamField.OWNER, all);
    Set<StreamRef> lost = new HashSet<>();
    for (int i = 0; i < all.size(); i++) {
      if (!isOwn(String.valueOf(owners.get(i)))) {
        lost.add(all.get(i));
      }
    }
    return lost;
  }

  private List<@Nullable Response> get(StreamField field, List<StreamRef> streams) {
    List<Request> requests = streams.stream().map(stream -> field.get(keys, stream)).toList();
    return available("look for lost streams", () -> client.sendMany(requests));
  }

  /** Whether this replica is the owner or the tail on record. */
  private boolean isOwn(String recorded) {
    return StreamOwner.replicaOf(recorded).equals(replica);
  }
}
