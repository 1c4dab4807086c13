package dev.holdfast.sse;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/**
 * Parses and writes a few megabytes of MCP-like events. The stream has {@link #STREAM_BYTES} bytes
 * and an operation is one of them, so a result in operations per microsecond reads as MB/s.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class SseParserBenchmark {

  private static final int STREAM_BYTES = 4 << 20;
  private static final int EVENT_BYTES = 300;

  /** Bytes per chunk; 1448 is the payload of one TCP segment. */
  @Param({"1448", "8192", "65536"})
  public int chunkBytes;

  /** What the text of a message is made of. */
  @Param({"ascii", "umlauts", "kanji"})
  public String text = "ascii";

  private final SseParser parser = new SseParser(1 << 20, 1 << 20);
  private final SseWriter writer = new SseWriter();
  private byte[] payload = {};
  private byte[] stream = {};

  /** Builds the stream. */
  @Setup
  public void prepare() {
    String filler =
        switch (text) {
          case "umlauts" -> "Fürstin ";
          case "kanji" -> "漢字";
          default -> "progress ";
        };
    String head =
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"data\":\"";
    StringBuilder json = new StringBuilder(head);
    while (json.toString().getBytes(UTF_8).length < EVENT_BYTES - 40) {
      json.append(filler);
    }
    payload = json.append("\"}}").toString().getBytes(UTF_8);
    SseWriter frames = new SseWriter();
    for (int n = 1; frames.length() < STREAM_BYTES; n++) {
      frames.event(null, "q3_1764000000000-" + n, null, payload);
    }
    stream = frames.take();
  }

  /** Parses, looking at each event's data only. */
  @Benchmark
  @OperationsPerInvocation(STREAM_BYTES)
  public void parse(Blackhole blackhole) {
    feed(event -> blackhole.consume(event.data().length));
  }

  /** Parses and takes from each event what a relay needs: its id and a copy of its data. */
  @Benchmark
  @OperationsPerInvocation(STREAM_BYTES)
  public void parseAndCopy(Blackhole blackhole) {
    feed(event -> {
      blackhole.consume(event.type());
      blackhole.consume(event.lastEventId());
      blackhole.consume(event.data());
    });
  }

  /** Writes a stream of the same size, in batches of the chunk size. */
  @Benchmark
  @OperationsPerInvocation(STREAM_BYTES)
  public void write(Blackhole blackhole) {
    int written = 0;
    while (written < STREAM_BYTES) {
      while (writer.length() < chunkBytes) {
        writer.event(null, "q3_1764000000000-1000", null, payload);
      }
      written += writer.length();
      blackhole.consume(writer.take());
    }
  }

  private void feed(SseHandler handler) {
    for (int position = 0; position < STREAM_BYTES; position += chunkBytes) {
      parser.feed(stream, position, Math.min(chunkBytes, STREAM_BYTES - position), handler);
    }
    parser.end();
  }
}
