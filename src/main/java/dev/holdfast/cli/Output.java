package dev.holdfast.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.text.Reason;
import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.util.stream.Stream;

/**
 * The output of a command: results on stdout, notes about them on stderr.
 *
 * @param stdout results and nothing else, so that scripts can read them
 * @param json whether a result is a JSON object rather than a line for people
 */
record Output(PrintStream stdout, PrintStream stderr, boolean json) {

  /** Returns the output of this process, and redirects {@link System#out} to stderr. */
  static Output ofProcess(boolean json) {
    PrintStream stderr = stream(FileDescriptor.err);
    System.setOut(stderr);
    return new Output(stream(FileDescriptor.out), stderr, json);
  }

  private static PrintStream stream(FileDescriptor file) {
    return new PrintStream(new BufferedOutputStream(new FileOutputStream(file)), true, UTF_8);
  }

  static ObjectNode object() {
    return JsonNodeFactory.instance.objectNode();
  }

  /** Returns the reason of a failure without the passwords of URLs. */
  static String message(Throwable failure) {
    return PrintableText.redact(Reason.of(failure));
  }

  /** Prints a result in one of its two forms. Both are printable; the JSON means the same. */
  void result(ObjectNode object, String... lines) {
    Stream.of(json ? new String[] {object.toString()} : lines)
        .map(PrintableText::escape)
        .forEach(stdout::println);
  }

  /** Prints a line that only people need, such as the header of a table. */
  void header(String line) {
    if (!json) {
      stdout.println(line);
    }
  }

  void note(String text) {
    stderr.println(PrintableText.of(text));
  }
}
