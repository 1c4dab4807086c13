package dev.holdfast.cli;

import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.annotations.QuarkusMain;
import java.io.FileDescriptor;
import java.io.FileOutputStream;

/**
 * Entry point of the program. Answers help and usage errors itself, turns options into system
 * properties, and then starts Quarkus.
 */
@QuarkusMain
public final class Holdfast {

  private static final String CONSOLE_LEVEL = "quarkus.log.console.level";

  private Holdfast() {}

  /** Runs the program. */
  public static void main(String... arguments) {
    Command command = CommandLineReader.read(arguments);
    command.properties().forEach(System::setProperty);
    System.setErr(PrintableText.errors(new FileOutputStream(FileDescriptor.err)));
    switch (command) {
      case Command.Print print -> printAndExit(print);
      case Command.Live live -> System.exit(LivenessCheck.run(live.port()).number());
      case Command.Show show ->
          System.exit(TapeCommands.show(show.tape(), Output.ofProcess(show.json())).number());
      case Command.Serve _, Command.Replay _ -> {
        guardSockets();
        Quarkus.run(arguments);
      }
      case Command.Stdio _, Command.Doctor _, Command.Verify _, Command.OnStore _ -> {
        disableServer();
        Quarkus.run(CommandRunner.class, arguments);
      }
    }
  }

  /**
   * Netty looks for extensions, such as that of {@code http.socket}, before its first connection.
   */
  private static void guardSockets() {
    System.setProperty("io.netty.bootstrap.extensions", "serviceload");
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
