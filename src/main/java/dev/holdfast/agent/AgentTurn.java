package dev.holdfast.agent;

import dev.holdfast.agent.AgentEvent.Reason;
import dev.holdfast.budget.ByteBudget;
import dev.holdfast.upstream.MessageQueue;
import dev.holdfast.upstream.OversizedMessage;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.stdio.ChildProcess;
import dev.holdfast.upstream.stdio.StdioUpstreamSettings;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The answer to one message: a process of the agent, whose lines wait in a bounded queue. */
final class AgentTurn implements ChildProcess.Listener {

  /** Stands for a line that was too long: no other line in the queue is empty. */
  private static final byte[] LINE_TOO_LONG = {};

  final AgentFormat format;

  // Owned by the thread that takes the lines.
  AgentEvent result = AgentEvent.result(null);
  boolean failed;

  private final MessageQueue lines;
  private final MessageQueue.Writer out;
  private final CountDownLatch gone = new CountDownLatch(1);
  private final ChildProcess process;

  /** Reason why the process was stopped; null if it ends by itself. */
  private volatile @Nullable Reason stopped;

  /**
   * Starts a process that waits for its {@link #begin}.
   *
   * @throws dev.holdfast.upstream.UpstreamException.Unreachable if it cannot be started
   */
  AgentTurn(
      StdioUpstreamSettings settings, AgentFormat format, List<String> command, ByteBudget budget) {
    this.format = format;
    lines = new MessageQueue(budget);
    out = lines.newWriter(_ -> {});
    process = ChildProcess.start(settings, command, budget, this);
  }

  /** Sends the prompt and starts to read. Throws as the constructor does. */
  void begin(byte[] prompt) {
    process.read();
    process.sendLast(prompt);
  }

  /**
   * Waits for lines and takes all that have arrived; none at the end of the output. An empty line
   * stands for one that was too long.
   */
  List<byte[]> take() throws InterruptedException {
    return lines.take(Duration.ZERO).stream().map(UpstreamMessage::payload).toList();
  }

  /** Waits for the end of the process and of its descendants. Returns the exit code. */
  int awaitEnd() throws InterruptedException {
    gone.await();
    return process.exitCode().orElse(-1);
  }

  boolean awaitEnd(Duration timeout) throws InterruptedException {
    return gone.await(timeout.toNanos(), TimeUnit.NANOSECONDS);
  }

  /** Starts to end the process and its descendants. */
  void stop(Reason why) {
    stopped = why;
    process.end();
  }

  @Nullable Reason stopped() {
    return stopped;
  }

  /** Starts to end the process; nobody takes its lines any more. */
  void abandon() {
    process.end();
    var _ = lines.close();
  }

  @Override
  public void line(byte[] line) {
    if (line.length > 0) {
      boolean _ = out.write(line);
    }
  }

  @Override
  public void lineTooLong(OversizedMessage line) {
    boolean _ = out.write(LINE_TOO_LONG);
  }

  @Override
  public void outputEnded(@Nullable IOException failure) {
    out.abandon();
  }

  @Override
  public void gone() {
    out.abandon();
    gone.countDown();
  }
}
