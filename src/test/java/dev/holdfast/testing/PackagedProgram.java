package dev.holdfast.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The packaged program as a user calls it from a command line: the jar of the build, or what the
 * system property {@code holdfast.program} names, which may also be a native executable.
 */
public final class PackagedProgram {

  /** The program under test: a jar, or a native executable. */
  public static final Path PROGRAM =
      Path.of(
              Objects.requireNonNull(
                  System.getProperty("holdfast.program", System.getProperty("holdfast.jar")),
                  "the build names the packaged program"))
          .toAbsolutePath();

  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  private PackagedProgram() {}

  /** The command line that starts the program, with {@code words} as its arguments. */
  public static List<String> command(String... words) {
    return command(shortLived("-Xmx256m"), List.of(words));
  }

  /** Options of a JVM that lives for seconds: it spends least when it compiles fast, not well. */
  public static List<String> shortLived(String... more) {
    List<String> options = new ArrayList<>(List.of(more));
    options.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    return options;
  }

  /** The command line that starts the program with the given options of a JVM. */
  public static List<String> command(List<String> jvmOptions, List<String> arguments) {
    List<String> cache = isJar(PROGRAM) ? StartupCache.of(PROGRAM).options() : List.of();
    return command(PROGRAM, cache, jvmOptions, arguments);
  }

  /** The command line without a cache, as {@link #command(List, List)} otherwise. */
  static List<String> command(
      Path program, List<String> cache, List<String> jvmOptions, List<String> arguments) {
    List<String> options = new ArrayList<>(cache);
    // Tests share the machine with other programs.
    options.add("-Dquarkus.management.port=0");
    options.addAll(jvmOptions);
    List<String> command = new ArrayList<>();
    if (isJar(program)) {
      command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      command.addAll(options);
      command.addAll(List.of("-jar", program.toString()));
    } else {
      command.add(program.toString());
      options.stream().filter(PackagedProgram::isForAnyProgram).forEach(command::add);
    }
    command.addAll(arguments);
    return command;
  }

  static boolean isJar(Path program) {
    return program.toString().endsWith(".jar");
  }

  /** A native executable takes these as well. It has no compiler, and one collector. */
  private static boolean isForAnyProgram(String option) {
    return option.startsWith("-D")
        || option.startsWith("-Xmx")
        || option.equals("-XX:+ExitOnOutOfMemoryError");
  }

  /** Runs the program to its end. */
  public static ProcessResult run(String... words) {
    return run(Path.of("."), Map.of(), command(words));
  }

  /**
   * Runs the program to its end.
   *
   * @param directory working directory, where the program looks for configuration
   * @param environment variables in addition to those of this process
   * @param command result of {@link #command}, possibly with more JVM options after its first word
   */
  public static ProcessResult run(
      Path directory, Map<String, String> environment, List<String> command) {
    try {
      return ProcessRun.toEnd(directory, environment, TIMEOUT, command);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
