package dev.holdfast.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.quarkus.logging.LoggingFilter;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.Objects;
import java.util.logging.Filter;
import java.util.logging.LogRecord;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jboss.logmanager.ExtLogRecord;
import org.jspecify.annotations.Nullable;

/**
 * Text that is safe to print. Clients and servers choose parts of it, which must not control the
 * terminal or forge a line. Configured URLs may contain passwords.
 *
 * <p>As a filter, it makes all records of the log printable.
 */
@LoggingFilter(name = "printable")
public final class PrintableText implements Filter {

  /** Control characters except tab, invisible ones such as marks of direction, line separators. */
  private static final Pattern UNSAFE =
      Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}&&[^\t]]");

  private static final Pattern CREDENTIALS = Pattern.compile("://[^\\s\"'<>]*@");

  private static final int MAX_CAUSES = 5;

  private final LibraryFailures libraries = new LibraryFailures();

  /** Returns the text with unsafe characters escaped as in JSON and Java. */
  static String escape(String text) {
    return UNSAFE.matcher(text).replaceAll(found -> escaped(found.group()));
  }

  private static String escaped(String character) {
    StringBuilder escaped = new StringBuilder();
    character.chars().forEach(unit -> escaped.append("\\\\u%04x".formatted(unit)));
    return escaped.toString();
  }

  /** Returns the text without the user names and passwords of its URLs. */
  static String redact(String text) {
    return CREDENTIALS.matcher(text).replaceAll("://***@");
  }

  /** Returns a stream of errors without the user names and passwords of URLs. */
  static PrintStream errors(OutputStream out) {
    return new PrintStream(out, true, UTF_8) {
      @Override
      public void println(@Nullable String text) {
        super.println(redact(String.valueOf(text)));
      }
    };
  }

  static String of(String text) {
    return escape(redact(text));
  }

  /** Changes the record. A message may have several lines, but no parameter of it. */
  @Override
  public boolean isLoggable(LogRecord entry) {
    if (!libraries.shorten(entry)) {
      return false;
    }
    Object[] parameters = entry.getParameters();
    if (parameters != null) {
      entry.setParameters(Stream.of(parameters).map(PrintableText::printable).toArray());
    }
    String message = entry.getMessage();
    if (message != null && entry instanceof ExtLogRecord extended) {
      extended.setMessage(
          String.join("\n", message.lines().map(PrintableText::of).toList()),
          extended.getFormatStyle());
    }
    entry.setThrown(printable(entry.getThrown(), 0));
    return true;
  }

  private static @Nullable Object printable(@Nullable Object parameter) {
    String text = String.valueOf(parameter);
    String printable = of(text);
    return printable.equals(text) ? parameter : printable;
  }

  private static @Nullable Throwable printable(@Nullable Throwable failure, int depth) {
    if (failure == null || depth > MAX_CAUSES) {
      return null;
    }
    Throwable cause = printable(failure.getCause(), depth + 1);
    String text = of(failure.toString());
    if (Objects.equals(cause, failure.getCause()) && text.equals(failure.toString())) {
      return failure;
    }
    Throwable copy = new RuntimeException(text, cause);
    copy.setStackTrace(failure.getStackTrace());
    return copy;
  }
}
