package dev.holdfast.clients;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Locale;

/** What a client program sees of a call in which something broke, and of the next call. */
enum Outcome {
  /** All progress and the result. */
  RESULT,

  /** An error, and then results again. */
  ERROR,

  /** Nothing, until its own limit ends the call; and then results again. */
  LIMIT,

  /** The next call fails, too. */
  LOST_SESSION;

  private static final String TEXT = "{\"result\":\"This is a simple text response for testing.\"}";

  /** Reads the lines of a program that counts, and then asks for a text. */
  static Outcome of(List<String> lines, int steps) {
    List<String> answers =
        lines.stream().filter(line -> line.startsWith("{\"result") || isError(line)).toList();
    if (answers.size() != 2 || !answers.getLast().equals(TEXT)) {
      return LOST_SESSION;
    }
    String call = answers.getFirst();
    if (!isError(call) && call.contains("counted")) {
      assertThat(lines).containsOnlyOnce(progress(steps));
      return RESULT;
    }
    boolean limit =
        call.contains("TimeoutException") || call.contains("timeout executing the tool");
    return limit || call.toLowerCase(Locale.ROOT).contains("request timed out") ? LIMIT : ERROR;
  }

  static boolean isError(String line) {
    return line.startsWith("{\"error") || line.contains("\"error: ");
  }

  /** The line that says that a step was reported. */
  static String progress(int step) {
    return "{\"progress\":\"%d\"}".formatted(step);
  }
}
