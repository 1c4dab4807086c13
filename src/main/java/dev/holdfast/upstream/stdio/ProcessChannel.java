package dev.holdfast.upstream.stdio;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.upstream.OversizedMessage;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.channel.Channel;
import java.io.IOException;
import java.time.Duration;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A process that runs one session with an MCP server. */
final class ProcessChannel extends Channel implements ChildProcess.Listener {

  private final ChildProcess process;

  /**
   * Starts a process. {@link #read} starts to read from it.
   *
   * @param whenGone called once, when the process and all its descendants have ended
   */
  ProcessChannel(
      StdioUpstreamSettings settings,
      ByteBudget budget,
      String session,
      Consumer<Channel> whenGone) {
    super(settings.name(), session, whenGone, budget);
    process = ChildProcess.start(settings, settings.command(), budget, this);
  }

  void read(BiConsumer<String, Runnable> threads) {
    process.read(threads);
  }

  @Override
  public void line(byte[] line) {
    if (line.length == 0) {
      return;
    }
    try {
      Envelopes.read(line).messages().forEach(router()::route);
    } catch (EnvelopeException e) {
      process.logInvalidMessage(line);
    }
  }

  @Override
  public void lineTooLong(OversizedMessage line) {
    skipped(line);
  }

  @Override
  public void outputEnded(@Nullable IOException failure) {
    IOException cause =
        failure == null && process.endedByItself()
            ? new IOException(process.describeEnd())
            : failure;
    String what = failure == null ? "the process has ended" : "its output broke";
    router().end(new UpstreamException.Broken(what, cause));
  }

  @Override
  public void gone() {
    router().end(new UpstreamException.Broken("the process has ended", null));
    reportGone();
  }

  long pid() {
    return process.pid();
  }

  @Override
  public boolean isAlive() {
    return process.isAlive() && !router().isOver();
  }

  /** Records the descendants of the process for its shutdown. */
  @Override
  public void opened() {
    process.findDescendants();
  }

  @Override
  public void send(byte[] json, Duration timeout) {
    try {
      process.send(json, timeout);
    } catch (UpstreamException.Broken | UpstreamException.SessionGone failure) {
      // Most likely the process ended before it read the line. Only operators see why.
      failure.addSuppressed(new IOException(process.describeEnd()));
      throw failure;
    }
  }

  @Override
  public void sendLater(byte[] json) {
    process.sendLater(json);
  }

  @Override
  public void stop(UpstreamException why) {
    router().end(why);
    process.end();
  }
}
