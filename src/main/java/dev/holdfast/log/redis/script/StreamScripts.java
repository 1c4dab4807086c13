package dev.holdfast.log.redis.script;

import dev.holdfast.log.LogException;
import dev.holdfast.log.Position;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StreamRef;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisException;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.redis.RedisScript;
import io.vertx.redis.client.Response;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Scripts that open and end sessions and streams, and that record the owner, the tail and the
 * delivery of a stream. All methods throw {@link RedisException}; callers decide what the failure
 * means.
 */
public final class StreamScripts {

  /** Servers give an id to every event or to none, so older events rarely have one. */
  private static final int MOST_EVENTS_SEARCHED = 64;

  /** Stands for the requests of a shared stream. */
  private static final String SHARED = "-";

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
    registerTail = load(client, "register-tail.lua");
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
  public void beginSession(String session, String client) {
    beginSession.run(List.of(keys.session(session)), retention.sessionTtl().toMillis(), client);
  }

  /** Removes a session and notifies all replicas that own or tail one of its streams. */
  public void endSession(String session) {
    endSession.run(
        List.of(
            keys.session(session), keys.streams(session), keys.inbox(session), keys.ends(session)),
        keys.replicaChannels(),
        session);
  }

  /**
   * Opens a stream. The call may be repeated with the same owner when its outcome is unknown.
   *
   * @param keptIn the name of the shared stream that keeps the events; null for none
   * @param followed whether to record this replica as the tail
   */
  public void open(
      StreamRef stream, String owner, String requests, @Nullable String keptIn, boolean followed) {
    String tail = followed ? tail(0) : "";
    open(stream, owner, tail, requests, keptIn == null ? "" : keptIn);
  }

  /** Opens a stream without an owner, unless it is open. */
  public void openShared(StreamRef stream) {
    open(stream, StreamOwner.NOBODY, "", "", "");
  }

  private void open(StreamRef stream, String owner, String tail, String requests, String keptIn) {
    List<String> streamKeys = List.of(sessionKey(stream), streamKey(stream));
    Object[] arguments = {
      stream.name(),
      owner,
      tail,
      requests,
      retention.maxStreams(),
      keptIn,
      keys.replicaChannels(),
      stream.session()
    };
    String result;
    try {
      result = openStream.runForText(streamKeys, arguments);
    } catch (RedisException.UnknownOutcome unknown) {
      result = openStream.runForText(streamKeys, arguments);
    }
    switch (result) {
      case "OK" -> {}
      case "GONE" -> throw new LogException.SessionEnded(stream);
      case "LIMIT" -> throw new LogException.TooManyStreams(retention.maxStreams());
      default -> throw new LogException.Fenced(stream);
    }
  }

  /**
   * Claims the open streams of a session that another replica owns. The call may be repeated with
   * the same owner when its outcome is unknown.
   *
   * @param from the replica whose streams are claimed
   * @param owner the new owner
   * @param names the streams to claim; empty for all
   */
  public Collection<Claimed> claim(String session, String from, String owner, Set<String> names) {
    Map<StreamRef, Claimed> claimed = new LinkedHashMap<>();
    List<String> left = new ArrayList<>(names);
    String cursor = "0";
    do {
      List<String> next = left.subList(0, Math.min(left.size(), MOST_CLAIMED));
      List<Response> reply =
          claimStreams.runForList(
              List.of(keys.session(session)), from, owner, MOST_EVENTS_SEARCHED, cursor, next);
      cursor = reply.getFirst().toString();
      for (Response each : reply.subList(1, reply.size())) {
        Claimed stream = Claimed.of(session, each);
        claimed.put(stream.stream(), stream); // Several steps may find the same stream.
      }
      next.clear();
    } while (!cursor.equals("0") || !left.isEmpty());
    return claimed.values();
  }

  /**
   * A stream that was claimed.
   *
   * @param last the position of its last event
   * @param upstreamId the id from which the upstream can resume it; null for none
   * @param keptIn the name of the shared stream that keeps its events; null for none
   */
  public record Claimed(
      StreamRef stream,
      String requests,
      Position last,
      @Nullable String upstreamId,
      @Nullable String keptIn) {

    private static Claimed of(String session, Response claimed) {
      Response upstreamId = claimed.get(3);
      Response keptIn = claimed.get(4);
      return new Claimed(
          new StreamRef(session, claimed.get(0).toString()),
          claimed.get(1).toString(),
          Position.parse(claimed.get(2).toString()).orElse(Position.START),
          upstreamId == null ? null : upstreamId.toString(),
          keptIn == null ? null : keptIn.toString());
    }
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
            stream.session(),
            cursor == null ? "" : cursor.toString());
    return requests.equals(SHARED) ? requestsKeptIn(stream) : requests;
  }

  /** Collects the requests in steps. The tail learns of later ones from their scripts. */
  private String requestsKeptIn(StreamRef shared) {
    List<String> session = List.of(shared.session());
    Map<StreamRef, String> requests = StreamField.REQUESTS.scan(client, keys, session);
    return StreamField.KEPT_IN.scan(client, keys, session).entrySet().stream()
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
   * @param onFailure runs if the record may still be there
   */
  public void removeTail(StreamRef stream, long number, Runnable onFailure) {
    removeTail(stream, tail(number), onFailure);
  }

  /** Removes the record of a tail, as the other method does. */
  public void removeTail(StreamRef stream, String tail, Runnable onFailure) {
    removeTail
        .runLater(List.of(sessionKey(stream)), stream.name(), tail)
        .whenComplete((_, failure) -> {
          if (failure != null) {
            onFailure.run();
          }
        });
  }

  /**
   * Records the position up to which a stream was delivered, without waiting, and tells its writers
   * on other replicas.
   *
   * @param done gets whether it was recorded; must not block
   */
  public void recordDelivery(StreamRef stream, Position position, Consumer<Boolean> done) {
    recordDelivery
        .runLater(
            List.of(sessionKey(stream)),
            stream.name(),
            position,
            replica,
            keys.replicaChannels(),
            stream.session())
        .whenComplete((_, failure) -> done.accept(failure == null));
  }

  /** The text that records a tail of this replica; 0 stands for the first tail of the owner. */
  private String tail(long number) {
    return replica + ' ' + number;
  }

  private String sessionKey(StreamRef stream) {
    return keys.session(stream.session());
  }

  private String streamKey(StreamRef stream) {
    return keys.stream(stream.session(), stream.name());
  }
}
