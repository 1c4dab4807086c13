package dev.holdfast.text;

import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/** Reason of a failure, for the log, the health page and commands. */
public final class Reason {

  private static final int MAX_LENGTH = 300;

  private Reason() {}

  /**
   * Joins the messages of a failure and its causes, and of what it suppressed, on one line of up to
   * 300 characters. Leaves out repetitions, and puts the {@link TlsProblem} before what the library
   * says about it. May contain the passwords of URLs.
   */
  public static String of(Throwable failure) {
    List<String> messages =
        Stream.of(
                Stream.ofNullable(failure.getMessage()),
                TlsProblem.of(failure).map(TlsProblem::toString).stream(),
                TlsProblem.causes(failure).skip(1).map(Throwable::getMessage),
                Stream.of(failure.getSuppressed()).map(Throwable::getMessage))
            .flatMap(each -> each)
            .filter(Objects::nonNull)
            .toList();
    return messages.stream()
        .reduce((text, cause) -> text.contains(cause) ? text : text + ": " + cause)
        .map(Reason::line)
        .orElseGet(() -> root(failure).getClass().getSimpleName());
  }

  /** Cuts a text to one line of up to 300 characters. */
  public static String line(String text) {
    return text.substring(0, Math.min(text.length(), MAX_LENGTH)).replaceAll("\\p{Cntrl}", " ");
  }

  /** The cause that has no other cause. */
  private static Throwable root(Throwable failure) {
    return TlsProblem.causes(failure).reduce(failure, (_, cause) -> cause);
  }
}
