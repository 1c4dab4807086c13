package dev.holdfast.conformance;

import java.util.List;

/**
 * How one scenario of the conformance suite went.
 *
 * @param name the suite's name of it
 * @param scored whether the revision requires it
 * @param passed how many checks succeeded
 * @param failed how many checks failed; a scenario that left no result counts as one
 * @param warnings how many checks found a SHOULD of the specification not followed
 * @param problems a sentence for each failure and warning
 */
public record ScenarioResult(
    String name, boolean scored, int passed, int failed, int warnings, List<String> problems) {
  /** Copies the list. */
  public ScenarioResult {
    problems = List.copyOf(problems);
  }

  /** Whether it ran without a failure, which is all that the suite asks. */
  public boolean isPassed() {
    return passed > 0 && failed == 0;
  }

  /** Whether it ran without a failure and without a warning. */
  public boolean isClean() {
    return isPassed() && warnings == 0;
  }
}
