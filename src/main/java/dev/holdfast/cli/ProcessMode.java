package dev.holdfast.cli;

import io.quarkus.runtime.annotations.CommandLineArguments;
import jakarta.inject.Singleton;

/**
 * What this process was started for. What runs in the background asks here: only a gateway joins
 * the others, sweeps and drains.
 */
@Singleton
public final class ProcessMode {

  private final ParsedCommandLine reading;

  /** Reads it from the command line; a program without one serves, as in tests. */
  ProcessMode(@CommandLineArguments String[] words) {
    reading = CommandLineReader.read(words);
  }

  /** Whether it is a gateway. */
  public boolean serves() {
    return switch (reading) {
      case ParsedCommandLine.Wanted(Command command) -> command instanceof Command.Serve;
      case ParsedCommandLine.Answered _ -> true;
    };
  }

  /**
   * Whether there is one client, with no other way to its server than through this process: then
   * the server is waited for as long as it takes.
   */
  public boolean isOnlyWay() {
    return reading instanceof ParsedCommandLine.Wanted(Command.Stdio _);
  }
}
