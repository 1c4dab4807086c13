package dev.holdfast.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Docker or Podman, whichever runs containers here. */
public final class ContainerEngine {

  private static final Duration PATIENCE = Duration.ofMinutes(30);

  private final String program;

  private ContainerEngine(String program) {
    this.program = program;
  }

  /** Returns the engine that answers, if there is one. */
  public static Optional<ContainerEngine> find() {
    for (String program : List.of("podman", "docker")) {
      try {
        // Docker's client alone answers `version`, too; only its engine answers `ps`.
        if (ProcessRun.toEnd(Path.of("."), PATIENCE, List.of(program, "ps")).exitCode() == 0) {
          return Optional.of(new ContainerEngine(program));
        }
      } catch (IOException notInstalled) {
        // The next one.
      }
    }
    return Optional.empty();
  }

  /** The name of the program. */
  public String program() {
    return program;
  }

  /** Runs a command of the engine, and returns its output. */
  public String run(String... arguments) {
    List<String> command = new ArrayList<>(List.of(program));
    command.addAll(List.of(arguments));
    return runOther(Path.of("."), command);
  }

  /** Tells whether {@link #compose} is possible. */
  public boolean hasCompose() {
    List<String> command = new ArrayList<>(composeCommand());
    command.add("version");
    try {
      return ProcessRun.toEnd(Path.of("."), PATIENCE, command).exitCode() == 0;
    } catch (IOException notInstalled) {
      return false;
    }
  }

  private List<String> composeCommand() {
    return program.equals("docker") ? List.of("docker", "compose") : List.of("podman-compose");
  }

  /** Runs {@code docker compose} or {@code podman-compose} in a directory. */
  public String compose(Path directory, String... arguments) {
    List<String> command = new ArrayList<>(composeCommand());
    command.addAll(List.of(arguments));
    return runOther(directory, command);
  }

  private static String runOther(Path directory, List<String> command) {
    try {
      ProcessResult result = ProcessRun.toEnd(directory, PATIENCE, command);
      if (result.exitCode() != 0) {
        throw new IllegalStateException(command + ": " + result);
      }
      return result.stdout();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
