package dev.holdfast.cli;

import dev.holdfast.upstream.stdio.CommandLine;
import io.quarkus.runtime.ApplicationLifecycleManager;
import io.quarkus.runtime.Quarkus;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Runs a command line. Answers help and usage errors itself, turns options into system properties,
 * and then starts Quarkus.
 */
public final class Holdfast {

  private static final String CONSOLE_LEVEL = "quarkus.log.console.level";

  private Holdfast() {}

  /**
   * Runs the program.
   *
   * @param explain says what is to be done about an exception of Quarkus, in lines
   */
  public static void run(Function<Throwable, List<String>> explain, String... arguments) {
    Command command = CommandLineReader.read(arguments);
    command.properties().forEach(System::setProperty);
    System.setErr(PrintableText.errors(new FileOutputStream(FileDescriptor.err)));
    missingProgram(command)
        .ifPresent(program ->
            printAndExit(
                new Command.Print(ExitCode.PROBLEM, "There is no program " + program + ".\n")));
    switch (command) {
      case Command.Print print -> printAndExit(print);
      case Command.Live live -> System.exit(LivenessCheck.run(live.port()).number());
      case Command.Show show ->
          System.exit(TapeCommands.show(show.tape(), Output.ofProcess(show.json())).number());
      case Command.Serve _, Command.Replay _ -> {
        // Netty looks for extensions, such as that of http.socket, before its first connection.
        System.setProperty("io.netty.bootstrap.extensions", "serviceload");
        Quarkus.run(null, end(explain), arguments);
      }
      case Command.Stdio _,
          Command.Doctor _,
          Command.Config _,
          Command.Verify _,
          Command.OnStore _ -> {
        disableServer();
        Quarkus.run(CommandRunner.class, end(explain), arguments);
      }
    }
  }

  /** Ends the process with the exit code of Quarkus, or restarts it in development mode. */
  private static BiConsumer<Integer, @Nullable Throwable> end(
      Function<Throwable, List<String>> explain) {
    return (code, failure) -> {
      if (failure != null) {
        explain.apply(failure).forEach(Output.ofProcess(false)::note);
      }
      ApplicationLifecycleManager.getDefaultExitCodeHandler().accept(code, failure);
    };
  }

  /**
   * Returns the program in the options if it does not exist, so that nobody waits for it. The
   * doctor reports that among other things.
   */
  private static Optional<String> missingProgram(Command command) {
    String line = command.properties().getOrDefault("holdfast.upstream.command", "");
    if (line.isEmpty() || command instanceof Command.Doctor) {
      return Optional.empty();
    }
    try {
      return CommandLine.missingProgram(line, Path.of("")).map(PrintableText::of);
    } catch (IllegalArgumentException invalid) {
      return Optional.empty(); // The configuration is refused later, with the reason.
    }
  }

  private static void printAndExit(Command.Print print) {
    Output output = Output.ofProcess(false);
    (print.code() == ExitCode.SUCCESS ? output.stdout() : output.stderr()).print(print.text());
    System.exit(print.code().number());
  }

  /** Disables the HTTP servers, and keeps log messages off the command's stdout. */
  private static void disableServer() {
    System.setProperty("quarkus.http.host-enabled", "false");
    System.setProperty("quarkus.management.host-enabled", "false");
    System.setProperty("quarkus.log.console.stderr", "true");
    if (System.getProperty(CONSOLE_LEVEL) == null
        && System.getenv("QUARKUS_LOG_CONSOLE_LEVEL") == null) {
      System.setProperty(CONSOLE_LEVEL, "WARN");
    }
  }
}
