package dev.holdfast.upstream.stdio;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.upstream.UpstreamException;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Lines for a process that reads slowly. */
@Timeout(30)
class LineWriterTest {

  private static final Duration LONG = Duration.ofSeconds(20);

  private final CountDownLatch reads = new CountDownLatch(1);

  /** What the process has read. Its methods are synchronized. */
  private final ByteArrayOutputStream read =
      new ByteArrayOutputStream() {
        @Override
        public void write(byte[] bytes) {
          try {
            reads.await();
          } catch (InterruptedException stopped) {
            throw new AssertionError(stopped);
          }
          writeBytes(bytes);
        }
      };

  private final LineWriter writer = new LineWriter(read);

  private Thread writing(String line) {
    Thread thread =
        Thread.startVirtualThread(() -> {
          try {
            writer.write(line.getBytes(UTF_8), LONG);
          } catch (UpstreamException.Broken stopped) {
            assertThat(line).isEqualTo("cancelled");
          }
        });
    await().until(() -> thread.getState() == Thread.State.TIMED_WAITING);
    return thread;
  }

  /** It would be executed although its call was cancelled, and nobody counts its bytes. */
  @Test
  void shouldNotWriteALineForWhichNobodyWaits() throws Exception {
    Thread lines = Thread.startVirtualThread(() -> writer.run(() -> {}));
    Thread first = writing("first");
    Thread cancelled = writing("cancelled");
    Thread last = writing("last");

    cancelled.interrupt();
    cancelled.join();
    reads.countDown();
    first.join();
    last.join();

    assertThat(read.toString(UTF_8)).isEqualTo("first\nlast\n");
    writer.close();
    lines.join();
  }
}
