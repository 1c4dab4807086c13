package dev.holdfast.log.redis;

import static dev.holdfast.redis.RedisScript.load;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.log.FencedException;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.Retention;
import dev.holdfast.log.SessionEndedException;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.TooManyStreamsException;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisException;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.redis.RedisScript;
import dev.holdfast.redis.RedisUnknownOutcomeException;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The log's scripts with their keys and arguments. All throw {@link RedisException} as it comes;
 * what it means is for the caller to say.
 */
final class LogScripts {

  private static final byte[] NOTHING = {};

  /** The owner of a stream that nobody owns. */
  private static final String NOBODY = "-";

  /** Servers give ids to every event or to none, so further back there is hardly ever one. */
  private static final int LOOK_BACK = 64;

  private final RedisScript begin = load(LogScripts.class, "begin.lua");
  private final RedisScript open = load(LogScripts.class, "opening.lua", "open.lua");
  private final RedisScript claim = load(LogScripts.class, "claim.lua");
  private final RedisScript append = load(LogScripts.class, "append.lua");
  private final RedisScript merge = load(LogScripts.class, "merge.lua");
  private final RedisScript note = load(LogScripts.class, "note.lua");
  private final RedisScript watch = load(LogScripts.class, "watch.lua");
  private final RedisScript delivered = load(LogScripts.class, "delivered.lua");
  private final RedisScript retire = load(LogScripts.class, "retire.lua");
  private final RedisScript end = load(LogScripts.class, "end.lua");

  private final RedisClient link;
  private final RedisKeys keys;
  private final String replica;
  private final Retention retention;

  LogScripts(RedisClient link, RedisKeys keys, String replica, Retention retention) {
    this.link = link;
    this.keys = keys;
    this.replica = replica;
    this.retention = retention;
  }

  void begin(String session) {
    begin.run(
        link, List.of(keys.session(session)), args -> args.arg(retention.sessionTtl().toMillis()));
  }

  /** Opens a stream; may be made again with the same owner when its outcome is unknown. */
  void open(StreamRef stream, String owner, String requests, @Nullable String into) {
    // Nobody watches a stream whose events are kept in another.
    open(stream, owner, requests, into == null ? tail(0) : "", into == null ? "" : into);
  }

  /** Opens a stream of which there is no owner, unless it is open. */
  void openShared(StreamRef stream) {
    open(stream, NOBODY, "", "", "");
  }

  private void open(StreamRef stream, String owner, String requests, String tail, String into) {
    Consumer<Request> arguments =
        args ->
            args.arg(stream.name())
                .arg(owner)
                .arg(tail)
                .arg(requests)
                .arg(retention.maxStreams())
                .arg(retention.sessionTtl().toMillis())
                .arg(into);
    List<String> both = List.of(sessionKey(stream), streamKey(stream));
    String said;
    try {
      said = String.valueOf(open.run(link, both, arguments));
    } catch (RedisUnknownOutcomeException unknown) {
      said = String.valueOf(open.run(link, both, arguments));
    }
    switch (said) {
      case "OK" -> {}
      case "GONE" -> throw new SessionEndedException(stream);
      case "LIMIT" -> throw new TooManyStreamsException(retention.maxStreams());
      default -> throw new FencedException(stream);
    }
  }

  /**
   * StreamOwnership the streams of a replica that was lost; may be made again with the same owner
   * when its outcome is unknown.
   *
   * @param names those of the streams to claim; none for all
   */
  List<Claimed> claim(String session, String former, String owner, Set<String> names) {
    Response found =
        claim.run(
            link,
            List.of(keys.session(session)),
            args -> {
              args.arg(former).arg(owner).arg(LOOK_BACK);
              names.forEach(args::arg);
            });
    List<Claimed> claimed = new ArrayList<>();
    for (int i = 0; found != null && i < found.size(); i++) {
      Response each = found.get(i);
      Response upstreamId = each.get(3);
      Response into = each.get(4);
      claimed.add(
          new Claimed(
              new StreamRef(session, each.get(0).toString()),
              each.get(1).toString(),
              Position.parse(each.get(2).toString()).orElse(Position.START),
              upstreamId == null ? null : upstreamId.toString(),
              into == null ? null : into.toString()));
    }
    return claimed;
  }

  /**
   * A stream that was claimed.
   *
   * @param last the position of its last event
   * @param into the name of the stream that keeps its events; null for itself
   */
  record Claimed(
      StreamRef stream,
      String requests,
      Position last,
      @Nullable String upstreamId,
      @Nullable String into) {}

  /**
   * Appends a batch after all that was given out; if it is empty, only says how far that is.
   *
   * @return the position of the batch's last event, also when an earlier attempt wrote it
   */
  Position append(StreamRef stream, String owner, WriterProgress standing, List<NewEvent> batch) {
    Position last = standing.last();
    String passedId = standing.passedId();
    Consumer<Request> arguments =
        args -> {
          args.arg(stream.name()).arg(owner).arg(last.millis()).arg(last.number());
          args.arg(standing.stored()).arg(passedId == null ? "" : passedId).arg(replica);
          args.arg(keys.replicaChannels()).arg(stream.session()).arg(retention.maxEvents());
          args.arg(retention.eventTtl().toMillis()).arg(retention.sessionTtl().toMillis());
          batch.forEach(event -> add(args, event));
        };
    String said =
        String.valueOf(
            append.run(
                link,
                List.of(sessionKey(stream), streamKey(stream), keys.streams(stream.session())),
                arguments));
    return Position.parse(said).orElseThrow(() -> new FencedException(stream));
  }

  /**
   * Appends a batch to the stream that keeps the events of another.
   *
   * @param last how many events the stream has had
   * @return how many it has had with this batch
   */
  Position merge(
      StreamRef stream, StreamRef into, String owner, Position last, List<NewEvent> batch) {
    Consumer<Request> arguments =
        args -> {
          args.arg(stream.name()).arg(owner).arg(last.number()).arg(into.name()).arg(replica);
          args.arg(keys.replicaChannels()).arg(stream.session()).arg(retention.maxEvents());
          args.arg(retention.eventTtl().toMillis()).arg(retention.sessionTtl().toMillis());
          batch.forEach(event -> add(args, event));
        };
    String said =
        String.valueOf(
            merge.run(
                link,
                List.of(sessionKey(stream), streamKey(into), keys.ends(stream.session())),
                arguments));
    return Position.parse(said).orElseThrow(() -> new FencedException(stream));
  }

  private static void add(Request args, NewEvent event) {
    String upstreamId = event.upstreamId();
    args.arg((upstreamId == null ? "" : "u") + (event.last() ? "z" : ""));
    args.arg(event.payload());
    args.arg(upstreamId == null ? NOTHING : upstreamId.getBytes(UTF_8));
  }

  void note(StreamRef stream, String owner, long number, String upstreamId) {
    note.runLater(
        link,
        List.of(sessionKey(stream)),
        args -> args.arg(stream.name()).arg(owner).arg(number).arg(upstreamId),
        failure -> {
          // Then the stream is resumed from its newest event, if that has an id.
        });
  }

  void watch(StreamRef stream, long number) {
    watch.run(
        link,
        List.of(sessionKey(stream)),
        args ->
            args.arg(stream.name())
                .arg(tail(number))
                .arg(keys.replicaChannels())
                .arg(stream.session()));
  }

  void delivered(StreamRef stream, Position position, Consumer<@Nullable Throwable> done) {
    delivered.runLater(
        link,
        List.of(sessionKey(stream)),
        args -> args.arg(stream.name()).arg(position.toString()),
        done);
  }

  void retire(StreamRef stream) {
    retire.runLater(
        link,
        List.of(sessionKey(stream), streamKey(stream), keys.streams(stream.session())),
        args -> args.arg(stream.name()).arg(retention.completedTtl().toMillis()),
        failure -> {
          // Then the stream is kept until its events expire.
        });
  }

  void end(String session) {
    end.run(
        link,
        List.of(
            keys.session(session), keys.streams(session), keys.inbox(session), keys.ends(session)),
        args -> args.arg(keys.replicaChannels()).arg(session));
  }

  /** Names a watcher among those of all replicas; 0 stands for the first of the opening replica. */
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
