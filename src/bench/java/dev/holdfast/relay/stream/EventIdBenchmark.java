package dev.holdfast.relay.stream;

import dev.holdfast.log.Position;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** How fast one core makes the id of an event, and reads one that a client returns. */
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class EventIdBenchmark {

  private final String text = "x7Kq2pVd_1795396091935-4711";
  private long number;

  /** The id of the next event of a stream, as a text. */
  @Benchmark
  public String make() {
    return new EventId("x7Kq2pVd", new Position(1_795_396_091_935L, ++number)).toString();
  }

  /** The id in {@code Last-Event-ID}. */
  @Benchmark
  public Optional<EventId> parse() {
    return EventId.parse(text);
  }
}
