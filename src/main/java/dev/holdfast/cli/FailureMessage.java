package dev.holdfast.cli;

import java.util.Objects;
import java.util.stream.Stream;

/** Describes an exception in one line, for people at a terminal. */
final class FailureMessage {

  private static final int MAX_CAUSES = 5;

  private FailureMessage() {}

  /** Joins the messages of the exception and its causes, without repetitions. */
  static String of(Throwable failure) {
    return Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
        .limit(MAX_CAUSES)
        .map(Throwable::getMessage)
        .filter(Objects::nonNull)
        .reduce((text, cause) -> text.contains(cause) ? text : text + ": " + cause)
        .orElse(failure.getClass().getSimpleName());
  }
}
