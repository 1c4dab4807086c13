package dev.holdfast.upstream.stdio;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Which program is the server, and how patient we are with it.
 *
 * @param name what its lines in our log are marked with
 * @param command the program and its arguments
 * @param environment variables that it gets beside the few that it inherits, see {@link
 *     ChildEnvironment}
 * @param directory where it runs; null for our own working directory
 * @param maxProcesses the most processes at a time, those that are being stopped included
 * @param stopGrace how long a process may take to end, once after its stdin was closed and once
 *     more after SIGTERM
 * @param firstByteTimeout how long a message may wait until the process reads it, and a request
 *     then until the process begins to answer; a tool call is waited for without this bound
 * @param idleTimeout how long a running call may be silent; zero for ever
 * @param maxMessageBytes the size of the largest message that is taken, without its line end
 * @param respawn whether a session whose process was lost gets another one
 */
public record StdioUpstreamSettings(
    String name,
    List<String> command,
    Map<String, String> environment,
    @Nullable Path directory,
    int maxProcesses,
    Duration stopGrace,
    Duration firstByteTimeout,
    Duration idleTimeout,
    int maxMessageBytes,
    boolean respawn) {

  /**
   * Checks and copies.
   *
   * @throws IllegalArgumentException if a value is out of its range; the message never quotes an
   *     argument or the value of a variable
   */
  public StdioUpstreamSettings {
    command = List.copyOf(command);
    environment = Map.copyOf(environment);
    require(!command.isEmpty() && !command.getFirst().isEmpty(), "command names no program");
    require(command.stream().noneMatch(StdioUpstreamSettings::hasNul), "command has a NUL in it");
    environment.forEach(StdioUpstreamSettings::requireVariable);
    require(directory == null || Files.isDirectory(directory), "directory is none that exists");
    require(maxProcesses > 0, "maxProcesses must be positive");
    require(!stopGrace.isNegative(), "stopGrace must not be negative");
    require(firstByteTimeout.isPositive(), "firstByteTimeout must be positive");
    require(!idleTimeout.isNegative(), "idleTimeout must not be negative");
    require(maxMessageBytes > 0, "maxMessageBytes must be positive");
  }

  /**
   * Returns the defaults for a program: no variables, our directory, 100 processes, 2 s, 5 min, 5
   * min, 4 MiB.
   */
  public static StdioUpstreamSettings defaults(String name, List<String> command) {
    return new StdioUpstreamSettings(
        name,
        command,
        Map.of(),
        null,
        100,
        Duration.ofSeconds(2),
        Duration.ofMinutes(5),
        Duration.ofMinutes(5),
        4 << 20,
        false);
  }

  private static void requireVariable(String name, String value) {
    require(
        !name.isEmpty() && name.indexOf('=') < 0 && !hasNul(name),
        "not the name of a variable: " + name);
    require(!hasNul(value), "the value of the variable " + name + " has a NUL in it");
  }

  private static boolean hasNul(String text) {
    return text.indexOf('\0') >= 0;
  }

  private static void require(boolean rule, String message) {
    if (!rule) {
      throw new IllegalArgumentException(message);
    }
  }

  /** Keeps arguments and values of variables, which may be secret, out of logs. */
  @Override
  public String toString() {
    return "StdioUpstreamSettings[name="
        + name
        + ", program="
        + command.getFirst()
        + ", environment="
        + new TreeSet<>(environment.keySet())
        + "]";
  }
}
