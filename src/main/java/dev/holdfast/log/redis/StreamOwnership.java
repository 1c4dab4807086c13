package dev.holdfast.log.redis;

import static dev.holdfast.log.redis.script.StoreCalls.available;
import static dev.holdfast.log.redis.script.StreamScripts.textOrNull;

import dev.holdfast.log.Inbox;
import dev.holdfast.log.LogException;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.Position;
import dev.holdfast.log.SharedLog;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.log.WatcherRegistry;
import dev.holdfast.log.redis.script.StreamField;
import dev.holdfast.log.redis.script.StreamOwner;
import dev.holdfast.log.redis.script.StreamScripts;
import dev.holdfast.log.redis.write.OwnedStreams;
import io.vertx.redis.client.Response;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Makes this replica the owner of streams that it opens or adopts. Finds streams that other
 * replicas adopted, and streams that this replica owns but does not write.
 */
final class StreamOwnership implements SharedLog {

  private final String replica;
  private final Consumer<LogKey> sessionRecorder;
  private final StreamScripts scripts;
  private final RedisInbox inbox;
  private final OwnedStreams owned;
  private final WatcherRegistry watchers;
  private final MissedMessages missed;
  private final Consumer<LogKey> ended;

  /** Owners with claims of unknown outcome, whose streams may have no writer. */
  private final Map<LogKey, String> unsettled = new ConcurrentHashMap<>();

  /** True if a call of unknown outcome may have opened a stream. */
  private final AtomicBoolean doubts = new AtomicBoolean();

  /**
   * Creates the ownership of a replica.
   *
   * @param sessionRecorder records the sessions of this replica's streams
   * @param ended receives each session that has ended
   */
  StreamOwnership(
      String replica,
      Consumer<LogKey> sessionRecorder,
      StreamScripts scripts,
      RedisInbox inbox,
      OwnedStreams owned,
      WatcherRegistry watchers,
      MissedMessages missed,
      Consumer<LogKey> ended) {
    this.replica = replica;
    this.sessionRecorder = sessionRecorder;
    this.scripts = scripts;
    this.inbox = inbox;
    this.owned = owned;
    this.watchers = watchers;
    this.missed = missed;
    this.ended = ended;
  }

  @Override
  public Inbox inbox() {
    return inbox;
  }

  /** Forgets claims in a session that has ended. */
  void forget(LogKey session) {
    unsettled.remove(session);
  }

  /**
   * Opens a stream.
   *
   * @param followed whether a tail of this replica follows at once
   */
  StreamWriter open(
      StreamRef stream, String requests, String tool, @Nullable String keptIn, boolean followed) {
    String owner = StreamOwner.withNewFence(replica);
    String call = StreamScripts.opening(requests, tool);
    Runnable script =
        () -> {
          sessionRecorder.accept(stream.key());
          scripts.open(stream, owner, requests, call, keptIn, followed);
        };
    StreamWriter writer;
    try {
      writer =
          available("open a stream", () -> owned.open(stream, owner, keptIn, followed, script));
    } catch (LogException.StoreUnavailable unknown) {
      doubts.set(true);
      throw unknown;
    }
    if (keptIn != null) {
      watchers.requested(new StreamRef(stream.key(), keptIn), requests);
    }
    return writer;
  }

  @Override
  public void catchUp(Predicate<LogKey> which) {
    missed.look(which);
    boolean _ = inbox.collectSome(which);
    List<LogKey> known =
        Stream.concat(owned.sessions().stream(), unsettled.keySet().stream())
            .distinct()
            .filter(which)
            .toList();
    missed.findEnded(known).forEach(ended);
  }

  @Override
  public boolean takeDoubts() {
    return doubts.getAndSet(false) || missed.mayHaveSome();
  }

  @Override
  public List<AdoptedStream> adopt(LogKey session, String previousOwner) {
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
  public List<AdoptedStream> reclaim(LogKey session, Set<String> names) {
    return claim(session, replica, StreamOwner.withNewFence(replica), names);
  }

  private List<AdoptedStream> claim(
      LogKey session, String previousOwner, String owner, Set<String> names) {
    Collection<Response> claimed =
        available(
            "adopt streams",
            () -> {
              sessionRecorder.accept(session);
              return scripts.claim(session, previousOwner, owner, names);
            });
    return claimed.stream().map(each -> adopted(session, owner, each)).toList();
  }

  private AdoptedStream adopted(LogKey session, String owner, Response claimed) {
    StreamRef stream = new StreamRef(session, claimed.get(0).toString());
    Position last = Position.parse(claimed.get(2).toString()).orElse(Position.START);
    return new AdoptedStream(
        owned.add(stream, owner, last, textOrNull(claimed.get(4))),
        claimed.get(1).toString(),
        textOrNull(claimed.get(3)));
  }

  @Override
  public Map<StreamRef, String> findOrphaned(Collection<LogKey> sessions) {
    Map<StreamRef, String> found =
        available(
            "look for streams without a writer", () -> scripts.scan(StreamField.OWNER, sessions));
    found.entrySet().removeIf(each -> !isOwn(each.getValue()) || owned.isWritten(each.getKey()));
    // A stream that was opened in the name of this replica gets its writer with its inbox message.
    List<LogKey> among = found.keySet().stream().map(StreamRef::key).distinct().toList();
    Set<LogKey> waiting = Set.copyOf(inbox.waiting(among));
    found.keySet().removeIf(stream -> waiting.contains(stream.key()));
    return found;
  }

  @Override
  public Set<StreamRef> findTakenOver(Collection<StreamRef> streams) {
    List<StreamRef> all = List.copyOf(streams);
    List<@Nullable Response> owners = get(StreamField.OWNER, all);
    return IntStream.range(0, all.size())
        .filter(i -> !isOwn(String.valueOf(owners.get(i))))
        .mapToObj(all::get)
        .collect(Collectors.toSet());
  }

  private List<@Nullable Response> get(StreamField field, List<StreamRef> streams) {
    return available("look for lost streams", () -> scripts.get(field, streams));
  }

  /** Returns true if this replica is the owner or the tail on record. */
  private boolean isOwn(String recorded) {
    return StreamOwner.replicaOf(recorded).equals(replica);
  }
}
