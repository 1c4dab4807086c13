package dev.holdfast.cli;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a failure says, for a person at a terminal. */
final class Causes {

  private static final int DEEPEST = 5;

  private Causes() {}

  /** The messages from the failure down to its first cause, each once. */
  static String of(Throwable failure) {
    List<String> said = new ArrayList<>();
    @Nullable Throwable each = failure;
    for (int depth = 0; each != null && depth < DEEPEST; depth++) {
      String message = each.getMessage();
      if (message != null && said.stream().noneMatch(before -> before.contains(message))) {
        said.add(message);
      }
      each = each.getCause();
    }
    return said.isEmpty() ? failure.getClass().getSimpleName() : String.join(": ", said);
  }
}
