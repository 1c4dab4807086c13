package dev.holdfast.cli;

import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.annotations.QuarkusMain;

/**
 * Where the program begins. What needs no gateway is answered here; the options of a command become
 * system properties, before Quarkus reads its configuration.
 */
@QuarkusMain
public final class Holdfast {

  private static final String CONSOLE_LEVEL = "quarkus.log.console.level";

  private Holdfast() {}

  /** Runs the program with the words behind its name. */
  public static void main(String... words) {
    switch (CommandLineReader.read(words)) {
      case ParsedCommandLine.Answered answered -> answer(answered);
      case ParsedCommandLine.Wanted(Command command) -> run(command, words);
    }
  }

  private static void answer(ParsedCommandLine.Answered answered) {
    Output output = Output.ofProcess();
    if (answered.code() == ExitCode.FINE) {
      output.results().print(answered.text());
      output.results().flush();
    } else {
      output.remarks().print(answered.text());
      output.remarks().flush();
    }
    System.exit(answered.code().number());
  }

  private static void run(Command command, String... words) {
    command.settings().forEach(System::setProperty);
    if (command instanceof Command.Serve) {
      Quarkus.run(words);
    } else {
      withoutServer();
      Quarkus.run(Program.class, words);
    }
  }

  /** Listens nowhere, and leaves stdout to the command. */
  private static void withoutServer() {
    System.setProperty("quarkus.http.host-enabled", "false");
    System.setProperty("quarkus.log.console.stderr", "true");
    if (System.getProperty(CONSOLE_LEVEL) == null
        && System.getenv("QUARKUS_LOG_CONSOLE_LEVEL") == null) {
      System.setProperty(CONSOLE_LEVEL, "WARN");
    }
  }
}
