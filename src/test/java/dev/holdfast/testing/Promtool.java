package dev.holdfast.testing;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Runs Prometheus' tool for rules and configurations. */
public final class Promtool {

  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  private Promtool() {}

  /**
   * Runs promtool.
   *
   * @throws IllegalStateException when it is not installed
   */
  public static ProcessResult run(String... arguments) {
    List<String> command = new ArrayList<>(List.of("promtool"));
    command.addAll(List.of(arguments));
    try {
      return ProcessRun.toEnd(Path.of("."), TIMEOUT, command);
    } catch (IOException e) {
      throw new IllegalStateException(
          "This test needs promtool of Prometheus; src/test/setup.sh installs it", e);
    }
  }
}
