package dev.holdfast.cli;

import dev.holdfast.record.ReplayUpstream;
import dev.holdfast.record.Tape;
import dev.holdfast.record.TapeException;
import dev.holdfast.upstream.Upstream;
import io.quarkus.runtime.annotations.CommandLineArguments;
import jakarta.inject.Singleton;
import java.util.Optional;

/** Tells whether this process is a gateway or runs another command. */
@Singleton
public final class ProcessMode {

  private final Command command;

  /** Reads the command line. */
  public ProcessMode(@CommandLineArguments String[] arguments) {
    command = CommandLineReader.read(arguments);
  }

  /**
   * Returns whether this process is a gateway. Only a gateway joins the cluster, sweeps and drains.
   */
  public boolean serves() {
    // Tests run the gateway with the arguments of the test runner.
    return command instanceof Command.Serve
        || command instanceof Command.Replay
        || command instanceof Command.Print;
  }

  /** Returns whether clients use this process, so that their sessions can be recorded. */
  public boolean hasClients() {
    return serves() || isStdioBridge();
  }

  /**
   * Returns the server that plays a tape, if this process replays one.
   *
   * @throws TapeException if the tape cannot be read, or has no session
   */
  public Optional<Upstream> replay() throws TapeException {
    return command instanceof Command.Replay replay
        ? Optional.of(
            new ReplayUpstream(
                Tape.read(replay.tape()),
                replay.waits() ? replay.speed() : Double.POSITIVE_INFINITY))
        : Optional.empty();
  }

  /**
   * Returns whether this process connects one client on stdin to its server. That client cannot
   * switch to another replica, so the process retries for as long as it takes.
   */
  public boolean isStdioBridge() {
    return command instanceof Command.Stdio;
  }

  /** Returns whether a browser is to open for a sign-in. */
  public boolean opensBrowser() {
    return command instanceof Command.Stdio stdio && stdio.opensBrowser();
  }
}
