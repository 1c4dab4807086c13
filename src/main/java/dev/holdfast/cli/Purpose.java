package dev.holdfast.cli;

import io.quarkus.runtime.annotations.CommandLineArguments;
import jakarta.inject.Singleton;

/**
 * What this process was started for. What runs in the background asks here: only a gateway joins
 * the others, sweeps and drains.
 */
@Singleton
public final class Purpose {

  private final Reading reading;

  /** Reads it from the command line; a program without one serves, as in tests. */
  Purpose(@CommandLineArguments String[] words) {
    reading = CommandLineReader.read(words);
  }

  /** Whether it is a gateway. */
  public boolean serves() {
    return switch (reading) {
      case Reading.Wanted(Command command) -> command instanceof Command.Serve;
      case Reading.Answered _ -> true;
    };
  }

  /**
   * Whether there is one client, with no other way to its server than through this process: then
   * the server is waited for as long as it takes.
   */
  public boolean isOnlyWay() {
    return reading instanceof Reading.Wanted(Command.Stdio _);
  }
}
