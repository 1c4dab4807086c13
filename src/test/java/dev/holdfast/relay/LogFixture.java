package dev.holdfast.relay;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.LogTesting;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.log.memory.MemoryEventLog;
import dev.holdfast.relay.stream.ReplayConfig;
import dev.holdfast.relay.stream.StreamConfig;
import dev.holdfast.relay.tail.EventFraming;
import dev.holdfast.relay.tail.PageReader;
import dev.holdfast.relay.tail.Tail;
import dev.holdfast.relay.tail.TailContext;
import dev.holdfast.relay.tail.TailKind;
import dev.holdfast.relay.tail.Tails;
import dev.holdfast.relay.tail.TestConnection;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

/** A log with one session, on a clock that a test moves, and what tails on it need. */
public final class LogFixture {

  public static final LogKey SESSION = new LogKey("session");

  /** What {@link #now} starts with. */
  public static final long START_MILLIS = 1_000_000;

  public final AtomicLong now = new AtomicLong(START_MILLIS);
  public final InstantSource clock = () -> Instant.ofEpochMilli(now.get());
  public final RecordingListener heard = new RecordingListener();
  public final Tails tails = new Tails();
  public EventLog log;
  public StreamConfig streams = Settings.streams();
  public ReplayConfig.OnGap onGap = ReplayConfig.OnGap.ERROR;

  public LogFixture() {
    this(100_000);
  }

  /** Keeps no more than so many events of a stream. */
  public LogFixture(int maxEvents) {
    Retention retention =
        LogTesting.retention(
            Duration.ofHours(1), Duration.ofMinutes(2), maxEvents, Duration.ofHours(1), 1000);
    log = new MemoryEventLog(retention, 1_000_000_000, Long.MAX_VALUE, clock);
    log.begin(SESSION, "");
  }

  public static StreamRef ref(String stream) {
    return new StreamRef(SESSION, stream);
  }

  public StreamWriter open(String stream) {
    return log.open(ref(stream), "");
  }

  /** What its tails share, as it is now. */
  public TailContext context() {
    return new TailContext(log, streams, onGap, heard, tails, PageReader.pages(), clock, null);
  }

  /** A tail that is not yet running. */
  public Tail tail(String stream, Position after, TailKind kind) {
    EventFraming framing = new EventFraming(stream, true, true, true, null);
    return new Tail(context(), ref(stream), framing, after, kind, heard, () -> true);
  }

  /** Starts to follow a stream. */
  public TestConnection follow(String stream, Position after, TailKind kind) {
    return run(tail(stream, after, kind), new TestConnection());
  }

  /** Starts to follow a stream from its start, as its request does. */
  public TestConnection follow(String stream) {
    return follow(stream, Position.START, TailKind.REQUEST);
  }

  public static TestConnection run(Tail tail, TestConnection connection) {
    Thread.ofVirtual().start(() -> tail.run(connection));
    return connection;
  }

  /** The payloads of all events of a stream, in order. */
  public List<String> logged(String stream) {
    return LogTesting.payloads(events(stream));
  }

  public List<LogEvent> events(String stream) {
    return LogTesting.readAll(log, ref(stream), Position.START);
  }

  /** A page of numbered events, the last of which ends the stream. */
  public static List<NewEvent> complete(int from, int to) {
    return IntStream.rangeClosed(from, to)
        .mapToObj(n -> new NewEvent(Integer.toString(n).getBytes(UTF_8), null, n == to))
        .toList();
  }

  /** The texts of these numbers. */
  public static List<String> numbers(int from, int to) {
    return IntStream.rangeClosed(from, to).mapToObj(Integer::toString).toList();
  }
}
