package dev.holdfast.log;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/** Words in which tests of event logs speak. */
public final class LogTesting {

  private LogTesting() {}

  /** An event that more will follow. */
  public static NewEvent event(String payload) {
    return new NewEvent(payload.getBytes(UTF_8), null, false);
  }

  /** A retention of an hour with these maxima. */
  public static Retention keeping(int maxEvents, int maxStreams) {
    Duration hour = Duration.ofHours(1);
    return retention(hour, hour, maxEvents, hour, maxStreams);
  }

  /** A retention of any number of bytes. */
  public static Retention retention(
      Duration eventTtl,
      Duration completedTtl,
      int maxEvents,
      Duration sessionTtl,
      int maxStreams) {
    long any = Long.MAX_VALUE / 2;
    return new Retention(eventTtl, completedTtl, maxEvents, any, sessionTtl, any, maxStreams);
  }

  /** The last event of its stream. */
  public static NewEvent last(String payload) {
    return new NewEvent(payload.getBytes(UTF_8), null, true);
  }

  /** Events {@code from}, {@code from + 1}, …, {@code to}, whose payloads are their numbers. */
  public static List<NewEvent> numbered(int from, int to) {
    return IntStream.rangeClosed(from, to).mapToObj(n -> event(Integer.toString(n))).toList();
  }

  /** Opens a stream for requests whose client leaves at once. */
  public static StreamWriter openAndLeave(EventLog log, StreamRef stream, String requests) {
    StreamWriter writer = log.open(stream, requests);
    EventLog.Watch watch = log.watch(stream, Position.START, new CountingWatcher());
    watch.leave(true);
    watch.close();
    return writer;
  }

  /** The events of a result that has some, or is at the head. */
  public static List<LogEvent> events(ReadResult result) {
    assertThat(result).isInstanceOf(ReadResult.Events.class);
    return ((ReadResult.Events) result).events();
  }

  /** What the events carry. */
  public static List<String> payloads(List<LogEvent> events) {
    return events.stream().map(event -> new String(event.payload(), UTF_8)).toList();
  }

  /** What a result's events carry. */
  public static List<String> payloads(ReadResult result) {
    return payloads(events(result));
  }

  /** Reads to the head in pages, and fails on anything but events. */
  public static List<LogEvent> readAll(EventLog log, StreamRef stream, Position after) {
    List<LogEvent> all = new ArrayList<>();
    Position cursor = after;
    while (true) {
      ReadResult page = log.read(stream, cursor, 100);
      if (page instanceof ReadResult.EndOfStream || events(page).isEmpty()) {
        return all;
      }
      all.addAll(events(page));
      cursor = all.getLast().position();
    }
  }

  /** Counts what it is told. */
  public static final class CountingWatcher implements EventLog.Watcher {
    private final AtomicInteger wakes = new AtomicInteger();
    private final AtomicInteger evictions = new AtomicInteger();

    @Override
    public void wake() {
      wakes.incrementAndGet();
    }

    @Override
    public void evicted() {
      evictions.incrementAndGet();
    }

    /** How often it was woken. */
    public int wakes() {
      return wakes.get();
    }

    /** How often it was evicted. */
    public int evictions() {
      return evictions.get();
    }
  }
}
