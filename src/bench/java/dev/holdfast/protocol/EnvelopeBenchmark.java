package dev.holdfast.protocol;

import static java.nio.charset.StandardCharsets.UTF_8;

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
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/**
 * How fast one core reads the messages of the hot path, each about 330 bytes long. The gateway
 * relays 100,000 of them per second, so that a reader at a million takes a tenth of a core.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class EnvelopeBenchmark {

  private static final String TEXT =
      "The quick brown fox jumps over the lazy dog while seven wizards pack quartz boxes. "
          .repeat(2);

  private final byte[] progress =
      """
      {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"call-4711",\
      "progress":42,"total":100,"message":"%s"}}\
      """
          .formatted(TEXT)
          .getBytes(UTF_8);

  private final byte[] request =
      """
      {"jsonrpc":"2.0","id":4711,"method":"tools/call","params":{"name":"search","arguments":{\
      "query":"%s","limit":10},"_meta":{"progressToken":4711}}}\
      """
          .formatted(TEXT)
          .getBytes(UTF_8);

  private final byte[] response =
      """
      {"jsonrpc":"2.0","id":"8a6e0804-2bd0-4672-b79d-d97027f9071a","result":{"content":[{\
      "type":"text","text":"%s"}],"isError":false}}\
      """
          .formatted(TEXT)
          .getBytes(UTF_8);

  private final byte[] nonAsciiResponse =
      new String(response, UTF_8).replace("quartz", "Qüärtz — “石英”").getBytes(UTF_8);

  /** A notification, as a server streams them. */
  @Benchmark
  public Body notification() {
    return Envelopes.read(progress);
  }

  /** A call of a tool. */
  @Benchmark
  public Body request() {
    return Envelopes.read(request);
  }

  /** A result with an id that is a string. */
  @Benchmark
  public Body response() {
    return Envelopes.read(response);
  }

  /** The same with characters beyond ASCII. */
  @Benchmark
  public Body nonAsciiResponse() {
    return Envelopes.read(nonAsciiResponse);
  }

  /** Runs it. */
  public static void main(String[] args) throws RunnerException {
    new Runner(new OptionsBuilder().include(EnvelopeBenchmark.class.getSimpleName()).build()).run();
  }
}
