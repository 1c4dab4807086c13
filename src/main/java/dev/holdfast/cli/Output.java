package dev.holdfast.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * The output of a command: results on stdout, notes about them on stderr.
 *
 * @param stdout results and nothing else, so that scripts can read them
 * @param json whether a result is a JSON object rather than a line for people
 */
record Output(PrintStream stdout, PrintStream stderr, boolean json) {

  private static final int MAX_CAUSES = 5;

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

  /**
   * Joins the messages of an exception and its causes, or what it suppressed, in one line, without
   * repetitions and without the passwords of URLs.
   */
  static String message(Throwable failure) {
    return Stream.concat(
            Stream.iterate(failure, Objects::nonNull, Throwable::getCause).limit(MAX_CAUSES),
            Stream.of(failure.getSuppressed()))
        .map(Throwable::getMessage)
        .filter(Objects::nonNull)
        .reduce((text, cause) -> text.contains(cause) ? text : text + ": " + cause)
        .map(PrintableText::redact)
        .orElse(failure.getClass().getSimpleName());
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
