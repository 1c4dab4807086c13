package dev.holdfast.cli;

import io.quarkus.runtime.annotations.CommandLineArguments;
import jakarta.inject.Singleton;

/** Tells whether this process is a gateway or runs another command. */
@Singleton
public final class ProcessMode {

  private final Command command;

  ProcessMode(@CommandLineArguments String[] arguments) {
    command = CommandLineReader.read(arguments);
  }

  /**
   * Returns whether this process is a gateway. Only a gateway joins the cluster, sweeps and drains.
   */
  public boolean serves() {
    // Tests run the gateway with the arguments of the test runner.
    return command instanceof Command.Serve || command instanceof Command.Print;
  }

  /**
   * Returns whether this process connects one client on stdin to its server. That client cannot
   * switch to another replica, so the process retries for as long as it takes.
   */
  public boolean isStdioBridge() {
    return command instanceof Command.Stdio;
  }
}
