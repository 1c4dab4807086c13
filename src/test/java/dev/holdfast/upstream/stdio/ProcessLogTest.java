package dev.holdfast.upstream.stdio;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.ByteArrayInputStream;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a process writes into the gateway's log. */
class ProcessLogTest {

  private final Logger logger = Logger.getLogger(ProcessLog.class.getName());
  private final Recorder recorder = new Recorder();
  private final ProcessLog log = new ProcessLog("weather", 12_345);

  @BeforeEach
  void record() {
    logger.addHandler(recorder);
    logger.setUseParentHandlers(false);
  }

  @AfterEach
  void stopRecording() {
    logger.removeHandler(recorder);
    logger.setUseParentHandlers(true);
  }

  @Test
  void shouldMarkEachStderrLine() {
    logStderr("Starting {0}\n\nError: 'x'\n");

    assertThat(recorder.lines())
        .containsExactly(
            "stderr of process upstream=weather pid=12345 line=Starting {0}",
            "stderr of process upstream=weather pid=12345 line=Error: 'x'");
    assertThat(recorder.records).allMatch(each -> each.getLevel().equals(Level.INFO));
  }

  @Test
  void shouldNotLetLineForgeAnother() {
    logStderr("a\rINFO forged\u001b[31m\u2028b\u009b\u202ec\n");

    assertThat(recorder.lines())
        .containsExactly(
            "stderr of process upstream=weather pid=12345 line=a INFO forged [31m b  c");
  }

  @Test
  void shouldBoundLengthAndNumberOfLines() {
    logStderr("x".repeat(100_000) + "\nnext\n");
    assertThat(recorder.lines())
        .hasSize(2)
        .allMatch(line -> line.length() < 2 * ProcessLog.MAX_LINE)
        .last()
        .asString()
        .endsWith("next");

    logStderr(String.join("\n", IntStream.range(0, 100_000).mapToObj(Integer::toString).toList()));
    assertThat(recorder.lines()).hasSizeBetween(ProcessLog.BURST, 10 * ProcessLog.BURST);
  }

  @Test
  void shouldNotShowInvalidLineOfStdout() {
    log.logInvalidMessage("password=secret".getBytes(UTF_8));

    assertThat(recorder.lines()).singleElement().asString().contains("weather", "bytes=15");
    assertThat(recorder.lines()).noneMatch(line -> line.contains("secret"));
  }

  private void logStderr(String text) {
    log.logStderr(new ByteArrayInputStream(text.getBytes(UTF_8)));
  }

  private static final class Recorder extends Handler {

    private final ConcurrentLinkedQueue<LogRecord> records = new ConcurrentLinkedQueue<>();

    /** Lines about this test's process; those of other tests may still end. */
    List<String> lines() {
      return records.stream()
          .map(Recorder::formatted)
          .filter(line -> line.contains("upstream=weather"))
          .toList();
    }

    private static String formatted(LogRecord each) {
      Object[] parameters = each.getParameters();
      return parameters == null
          ? each.getMessage()
          : String.format(Locale.ROOT, each.getMessage(), parameters);
    }

    @Override
    public void publish(LogRecord each) {
      if (each.getLevel().intValue() >= Level.INFO.intValue()) {
        records.add(each);
      }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }

  @Test
  void shouldTellHowManyLinesItLeftOut() {
    logStderr("many\n".repeat(1000));

    await()
        .untilAsserted(() -> {
          logStderr("another\n");
          assertThat(recorder.lines())
              .anyMatch(line -> line.startsWith("lines not logged upstream=weather pid=12345"));
        });
  }
}
