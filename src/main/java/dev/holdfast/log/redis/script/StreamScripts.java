package dev.holdfast.log.redis.script;

import dev.holdfast.log.LogException;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReaderWindow;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StreamIndex.Opening;
import dev.holdfast.log.StreamRef;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisException;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.redis.RedisScript;
import io.vertx.redis.client.Response;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Scripts that open and end sessions and streams, and that record the owner, the tail and the
 * delivery of a stream. All methods but one throw {@link RedisException}; callers decide what the
 * failure means.
 */
public final class StreamScripts {

  private static final Logger LOG = Logger.getLogger(StreamScripts.class);

  /** Servers give an id to every event or to none, so older events rarely have one. */
  private static final int MOST_EVENTS_SEARCHED = 64;

  /** The most named streams that one run claims. */
  private static final int MOST_CLAIMED = 100;

  private final RedisScript beginSession;
  private final RedisScript endSession;
  private final RedisScript openStream;
  private final RedisScript claimStreams;
  private final RedisScript registerTail;
  private final RedisScript removeTail;
  private final RedisScript recordDelivery;

  private final RedisClient client;
  private final RedisKeys keys;
  private final String replica;
  private final Retention retention;

  /** Creates the scripts of a replica. */
  public StreamScripts(RedisClient client, RedisKeys keys, String replica, Retention retention) {
    this.client = client;
    this.keys = keys;
    this.replica = replica;
    this.retention = retention;
    beginSession = load(client, "begin-session.lua");
    endSession = load(client, "end-session.lua");
    openStream = load(client, "open-stream-checks.lua", "open-stream.lua");
    claimStreams = load(client, "claim-streams.lua");
    registerTail = load(client, "quotas.lua", "register-tail.lua");
    removeTail = load(client, "remove-tail.lua");
    recordDelivery = load(client, "record-delivery.lua");
  }

  /** Loads a script of the log. The functions that all of them share precede it. */
  public static RedisScript load(RedisClient client, String... files) {
    String[] all =
        Stream.concat(Stream.of("session-hash.lua"), Stream.of(files)).toArray(String[]::new);
    return new RedisScript(client, StreamScripts.class, all);
  }

  /** Creates the session hash, unless it exists. */
  public void beginSession(LogKey session, String client) {
    beginSession.run(
        List.of(keys.session(session.value())), retention.sessionTtl().toMillis(), client);
  }

  /** Removes a session and notifies all replicas that own or tail one of its streams. */
  public void endSession(LogKey session) {
    List<String> all =
        List.of(
            keys.session(session.value()),
            keys.streams(session.value()),
            keys.inbox(session.value()),
            keys.ends(session.value()));
    endSession.run(all, keys.replicaChannels(), session.value());
  }

  /**
   * Opens a stream. The call may be repeated with the same owner when its outcome is unknown.
   *
   * @param owner {@link StreamOwner#NOBODY} for a shared stream, which may be open
   * @param call when and for which tool it is opened; empty for a stream without requests
   * @param keptIn the name of the shared stream that keeps the events; null for none
   * @param followed whether to record this replica as the tail
   */
  public void open(
      StreamRef stream,
      String owner,
      String requests,
      String call,
      @Nullable String keptIn,
      boolean followed) {
    List<String> streamKeys = keys.sessionAndStream(stream.key().value(), stream.name());
    List<Object> arguments =
        List.of(
            List.of(stream.name(), owner, followed ? tail(0) : "", requests),
            List.of(retention.maxStreams(), Objects.requireNonNullElse(keptIn, "")),
            List.of(keys.replicaChannels(), stream.key().value(), call));
    String result;
    try {
      result = openStream.runForText(streamKeys, arguments);
    } catch (RedisException.UnknownOutcome unknown) {
      result = openStream.runForText(streamKeys, arguments);
    }
    if (!result.equals("OK")) {
      throw refusal(result, stream, retention);
    }
  }

  /**
   * The text of {@link StreamField#CALL} for a stream that is opened now; empty without requests.
   */
  public static String opening(String requests, String tool) {
    return requests.isEmpty() ? "" : new Opening(Instant.now(), tool).recorded();
  }

  /** The failure of a script that has not opened a stream. */
  public static LogException refusal(String result, StreamRef stream, Retention retention) {
    return switch (result) {
      case "GONE" -> new LogException.SessionEnded(stream);
      case "LIMIT" -> new LogException.TooManyStreams(retention.maxStreams());
      default -> new LogException.Fenced(stream);
    };
  }

  /**
   * Claims the open streams of a session that another replica owns. The call may be repeated with
   * the same owner when its outcome is unknown.
   *
   * @param from the replica whose streams are claimed
   * @param owner the new owner
   * @param names the streams to claim; empty for all
   * @return for each stream what {@code claim-streams.lua} says
   */
  public Collection<Response> claim(LogKey session, String from, String owner, Set<String> names) {
    Map<String, Response> claimed = new LinkedHashMap<>();
    List<String> left = new ArrayList<>(names);
    String cursor = "0";
    do {
      List<String> next = left.subList(0, Math.min(left.size(), MOST_CLAIMED));
      List<Response> reply =
          claimStreams.runForList(
              List.of(keys.session(session.value())),
              from,
              owner,
              MOST_EVENTS_SEARCHED,
              cursor,
              next);
      cursor = reply.getFirst().toString();
      // Several steps may find the same stream.
      reply.subList(1, reply.size()).forEach(each -> claimed.put(each.get(0).toString(), each));
      next.clear();
    } while (!cursor.equals("0") || !left.isEmpty());
    return claimed.values();
  }

  /** Reads a field of streams; null for each stream without it. */
  public List<@Nullable Response> get(StreamField field, List<StreamRef> streams) {
    return client.sendMany(streams.stream().map(stream -> field.get(keys, stream)).toList());
  }

  /** Reads a field of the open streams of sessions, as {@link StreamField#scan} does. */
  public SequencedMap<StreamRef, String> scan(StreamField field, Collection<LogKey> sessions) {
    return field.scan(client, keys, sessions);
  }

  /** A part of a reply as text; null for a nil. */
  public static @Nullable String textOrNull(@Nullable Response part) {
    return part == null ? null : part.toString();
  }

  /**
   * Makes a watcher of this replica the tail of an open stream, and evicts the tail of another
   * replica.
   *
   * @param number unique among the watchers of this replica; positive
   * @param cursor what the reader has; null for the position on record
   * @return the ids of the requests that the stream answers, or that the streams answer whose
   *     events it keeps; empty if it is not open
   */
  public String registerTail(StreamRef stream, long number, @Nullable Position cursor) {
    String requests =
        registerTail.runForText(
            List.of(sessionKey(stream)),
            stream.name(),
            tail(number),
            keys.replicaChannels(),
            stream.key().value(),
            cursor == null ? "" : cursor.toString());
    return requests.equals(StreamOwner.NOBODY) ? requestsKeptIn(stream) : requests;
  }

  /** Collects the requests in steps. The tail learns of later ones from their scripts. */
  private String requestsKeptIn(StreamRef shared) {
    List<LogKey> session = List.of(shared.key());
    Map<StreamRef, String> requests = scan(StreamField.REQUESTS, session);
    return scan(StreamField.KEPT_IN, session).entrySet().stream()
        .filter(each -> each.getValue().equals(shared.name()))
        .map(each -> requests.getOrDefault(each.getKey(), ""))
        .filter(each -> !each.isEmpty())
        .collect(Collectors.joining(","));
  }

  /**
   * Removes the record of a tail of this replica, unless another one has replaced it. Does not
   * wait. After a failure, the record stays until the stream ends.
   *
   * @param number as in {@link #registerTail}; 0 for the tail recorded on opening
   */
  public CompletionStage<?> removeTail(StreamRef stream, long number) {
    return removeTail(stream, tail(number));
  }

  /** Removes the record of any tail, as the other method does. */
  public CompletionStage<?> removeTail(StreamRef stream, String tail) {
    return removeTail.runLater(List.of(sessionKey(stream)), stream.name(), tail);
  }

  /**
   * Looks up the reader of a stream that has none on this replica, for a writer that waits for it.
   * The record of a reader whose replica is lost goes.
   *
   * @param isAlive returns true for a replica that does not count as lost
   */
  public void findReader(StreamRef stream, ReaderWindow window, Predicate<String> isAlive) {
    try {
      List<@Nullable Response> found =
          client.sendMany(
              List.of(StreamField.TAIL.get(keys, stream), StreamField.DELIVERED.get(keys, stream)));
      Response tail = found.get(0);
      String at = tail == null ? replica : StreamOwner.replicaOf(tail.toString());
      if (!at.equals(replica) && isAlive.test(at)) {
        window.connectRemote(Position.parse(String.valueOf(found.get(1))).orElse(Position.START));
        return;
      }
      if (tail != null && !at.equals(replica)) {
        var _ = removeTail(stream, tail.toString());
      }
      window.disconnectAny();
    } catch (RedisException away) {
      LOG.debugf("no reader looked up stream=%s: %s", stream, away.getMessage());
    }
  }

  /**
   * Records the position up to which a stream was delivered, without waiting, and tells its writers
   * on other replicas.
   */
  public CompletionStage<?> recordDelivery(StreamRef stream, Position position) {
    return recordDelivery.runLater(
        List.of(sessionKey(stream)),
        List.of(stream.name(), position, replica, keys.replicaChannels(), stream.key().value()));
  }

  /** The text that records a tail of this replica; 0 stands for the first tail of the owner. */
  private String tail(long number) {
    return replica + ' ' + number;
  }

  private String sessionKey(StreamRef stream) {
    return keys.session(stream.key().value());
  }
}
