package dev.holdfast.log.redis.write;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.log.LogException;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.redis.script.StreamScripts;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisException;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.redis.RedisScript;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Scripts that write events. All methods throw {@link RedisException} unchanged. */
public final class AppendScripts {

  private static final byte[] NOTHING = {};

  /** The script has removed a part of the unlogged events, and has written nothing yet. */
  private static final String AGAIN = "AGAIN";

  /** Number of bytes from which a batch is large: it takes Redis a millisecond or more. */
  static final int LARGE = 128 * 1024;

  /** The longest wait for other large batches. Redis may answer none of them. */
  private static final long LARGE_WAIT_MILLIS = 2000;

  /**
   * Large batches go one at a time. All share one connection, where a small command would wait
   * behind each of them.
   */
  private final Semaphore large = new Semaphore(1, true);

  private final RedisScript appendEvents;
  private final RedisScript appendToSharedStream;
  private final RedisScript recordUpstreamCursor;
  private final RedisScript releaseStream;
  private final RedisScript reportStreams;

  private final RedisKeys keys;
  private final String replica;
  private final Retention retention;

  /** Creates the scripts of a replica. */
  public AppendScripts(RedisClient client, RedisKeys keys, String replica, Retention retention) {
    this.keys = keys;
    this.replica = replica;
    this.retention = retention;
    appendEvents = StreamScripts.load(client, "retention.lua", "append-events.lua");
    appendToSharedStream =
        StreamScripts.load(client, "retention.lua", "append-to-shared-stream.lua");
    reportStreams = StreamScripts.load(client, "retention.lua", "quotas.lua", "report-streams.lua");
    recordUpstreamCursor = StreamScripts.load(client, "record-upstream-cursor.lua");
    releaseStream = StreamScripts.load(client, "release-stream.lua");
  }

  /**
   * The reply to an append.
   *
   * @param last the position of the last event
   * @param lastKept the same in the stream that keeps the events
   * @param remoteRead what the tail on another replica has; null without one
   */
  record Appended(Position last, Position lastKept, @Nullable Position remoteRead) {

    /**
     * Reads the reply of {@code append-events.lua} or {@code append-to-shared-stream.lua}.
     *
     * @throws LogException.Fenced when nothing was written
     */
    static Appended parse(StreamRef stream, boolean shared, String reply) {
      String[] words = reply.split(" ", -1);
      Position last = Position.parse(words[0]).orElseThrow(() -> new LogException.Fenced(stream));
      int next = shared ? 2 : 1;
      Position kept = shared ? Position.parse(words[1]).orElseThrow() : last;
      return new Appended(
          last, kept, words.length > next ? Position.parse(words[next]).orElseThrow() : null);
    }
  }

  /**
   * Appends a batch to a stream. An empty batch only records where the stream ends.
   *
   * @param progress the end of the stream as its writer knows it
   * @param read what the reader on this replica has: a new position, empty for no news, or {@code
   *     -} for no reader
   * @return the position of the batch's last event, even if an earlier attempt wrote it
   * @throws LogException.Fenced when the owner is not the recorded one, or a later batch was
   *     written
   */
  Appended append(
      StreamRef stream, String owner, WriterProgress progress, String read, List<NewEvent> batch) {
    List<String> streamKeys = keys.sessionAndStream(stream.key().value(), stream.name());
    List<Object> arguments = arguments(stream, owner, progress, read, batch);
    String result;
    do {
      result = run(appendEvents, batch, streamKeys, arguments);
    } while (result.equals(AGAIN));
    return Appended.parse(stream, false, result);
  }

  /**
   * Appends a batch that is not {@link #isLarge large}, as {@link #append} does, without waiting.
   */
  CompletionStage<Appended> appendLater(
      StreamRef stream, String owner, WriterProgress progress, String read, List<NewEvent> batch) {
    return appendEvents
        .runLater(
            keys.sessionAndStream(stream.key().value(), stream.name()),
            arguments(stream, owner, progress, read, batch))
        .thenApply(String::valueOf)
        .thenCompose(result ->
            result.equals(AGAIN)
                ? appendLater(stream, owner, progress, read, batch)
                : CompletableFuture.completedStage(Appended.parse(stream, false, result)));
  }

  private List<Object> arguments(
      StreamRef stream, String owner, WriterProgress progress, String read, List<NewEvent> batch) {
    Position last = progress.last();
    String upstreamId = Objects.requireNonNullElse(progress.upstreamId(), "");
    return List.of(
        List.of(stream.name(), owner, last.millis(), last.number(), progress.stored(), upstreamId),
        commonArguments(stream.key(), read, batch));
  }

  /** The last arguments of both appends. */
  private List<Object> commonArguments(LogKey session, String read, List<NewEvent> batch) {
    long timeToLive = retention.eventTtl().toMillis();
    return List.of(
        List.of(
            replica,
            keys.replicaChannels(),
            session.value(),
            retention.maxEvents(),
            timeToLive,
            read),
        arguments(batch));
  }

  /**
   * Appends a batch of a stream to the shared stream that keeps its events.
   *
   * @param last the number of events that the stream has had, as a position
   * @param read as in {@link #append}, of the shared stream
   * @return the number of its events, including this batch
   * @throws LogException.Fenced as {@link #append} does
   */
  public Appended appendToShared(
      StreamRef stream,
      StreamRef shared,
      String owner,
      Position last,
      String read,
      List<NewEvent> batch) {
    LogKey session = stream.key();
    String result =
        run(
            appendToSharedStream,
            batch,
            List.of(
                keys.session(session.value()),
                keys.stream(session.value(), shared.name()),
                keys.ends(session.value())),
            List.of(stream.name(), owner, last.number(), shared.name()),
            commonArguments(session, read, batch));
    return Appended.parse(stream, true, result);
  }

  /**
   * Records the id from which the upstream can resume a stream, without waiting. If Redis fails,
   * the stream is resumed from its newest event that has an id.
   *
   * @param number the number of the stream's last event
   */
  void recordUpstreamCursor(StreamRef stream, String owner, long number, String upstreamId) {
    var _ =
        recordUpstreamCursor.runLater(
            List.of(keys.session(stream.key().value())), stream.name(), owner, number, upstreamId);
  }

  /** Leaves a stream without an owner, without waiting. */
  CompletionStage<?> release(StreamRef stream, String owner) {
    return releaseStream.runLater(
        List.of(keys.session(stream.key().value())), stream.name(), owner);
  }

  /**
   * Reports streams of a session, without waiting.
   *
   * @param streams some hundred at most. If the list is empty, the script looks for expired streams
   * @param again whether an earlier run has left something to do
   */
  CompletionStage<SessionSize> report(
      LogKey session, List<UnreportedStream> streams, boolean again) {
    List<?> arguments =
        streams.stream()
            .map(each -> List.of(each.name(), each.bytes(), each.largest(), each.flags()))
            .toList();
    return reportStreams
        .runLater(
            List.of(keys.session(session.value())),
            Stream.of(retention.eventTtl(), retention.completedTtl(), retention.sessionTtl())
                .map(Duration::toMillis)
                .toList(),
            List.of(
                retention.maxStreamBytes(), retention.maxSessionBytes(), again ? 1 : 0, replica),
            arguments)
        .thenApply(reply -> SessionSize.parse(String.valueOf(reply)));
  }

  private String run(
      RedisScript script, List<NewEvent> batch, List<String> keys, Object... arguments) {
    boolean inTurn = isLarge(batch) && awaitTurn();
    try {
      return script.runForText(keys, arguments);
    } finally {
      if (inTurn) {
        large.release();
      }
    }
  }

  private boolean awaitTurn() {
    try {
      return large.tryAcquire(LARGE_WAIT_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  static boolean isLarge(List<NewEvent> batch) {
    return NewEvent.bytes(batch) >= LARGE;
  }

  private static List<Object> arguments(List<NewEvent> batch) {
    List<Object> arguments = new ArrayList<>(3 * batch.size());
    for (NewEvent event : batch) {
      String upstreamId = event.upstreamId();
      arguments.add((upstreamId == null ? "" : "u") + (event.last() ? "z" : ""));
      arguments.add(event.payload());
      arguments.add(upstreamId == null ? NOTHING : upstreamId.getBytes(UTF_8));
    }
    return arguments;
  }
}
