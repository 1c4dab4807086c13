package dev.holdfast.upstream.stdio;

import dev.holdfast.upstream.channel.Channel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Program of a server and its limits.
 *
 * @param command the program and its arguments
 * @param environment variables in addition to the inherited ones of {@link
 *     ChildProcess.ChildEnvironment}
 * @param directory working directory; null for the gateway's own
 * @param stopGrace time to end after stdin was closed, and again after SIGTERM
 * @param channel name and limits of the sessions, each of which has a process
 */
public record StdioUpstreamSettings(
    List<String> command,
    Map<String, String> environment,
    @Nullable Path directory,
    Duration stopGrace,
    Channel.Settings channel) {

  /**
   * Checks the values and copies the collections.
   *
   * @throws IllegalArgumentException if a value is out of its range; the message never quotes an
   *     argument or a variable's value
   */
  public StdioUpstreamSettings {
    command = List.copyOf(command);
    environment = Map.copyOf(environment);
    require(
        !command.isEmpty() && !command.getFirst().isEmpty(),
        "command names no program, such as npx -y my-server");
    require(command.stream().noneMatch(StdioUpstreamSettings::hasNul), "command has a NUL in it");
    environment.forEach(StdioUpstreamSettings::requireVariable);
    require(
        directory == null || Files.isDirectory(directory),
        "directory does not exist: create it, or name another one");
  }

  String name() {
    return channel.name();
  }

  private static void requireVariable(String name, String value) {
    require(
        !name.isEmpty() && name.indexOf('=') < 0 && !hasNul(name),
        "environment." + name + " is not the name of a variable: use letters, digits and _");
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

  /** Keeps arguments and variables' values out of logs: they may be secret. */
  @Override
  public String toString() {
    return "StdioUpstreamSettings[name=%s, program=%s, environment=%s]"
        .formatted(name(), command.getFirst(), new TreeSet<>(environment.keySet()));
  }
}
