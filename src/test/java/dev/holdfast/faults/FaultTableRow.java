package dev.holdfast.faults;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToIntFunction;

/**
 * A line of the table in docs/faults.md.
 *
 * @param fault what was done
 * @param load beside what
 * @param stories what became of all calls and streams
 */
record FaultTableRow(String fault, String load, List<CallRecord> stories) {

  private static final String HEAD =
      """
      | fault | load | calls | results | errors | gone | lost | duplicated | hung | silence |
      | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
      """;

  /** The line below the head of its table. */
  @Override
  public String toString() {
    return HEAD
        + "| %s | %s | %d | %d | %d | %d | %d | %d | %d | %.1f s |"
            .formatted(
                fault,
                load,
                sum(story -> story.call() ? 1 : 0),
                sum(story -> story.transcript().results()),
                sum(story -> story.transcript().errors().size()),
                sum(story -> story.isGone() ? 1 : 0),
                sum(CallRecord::lost),
                sum(CallRecord::duplicated),
                sum(story -> story.transcript().isHung() ? 1 : 0),
                longestSilence().toMillis() / 1000.0);
  }

  private int sum(ToIntFunction<CallRecord> figure) {
    return stories.stream().mapToInt(figure).sum();
  }

  private Duration longestSilence() {
    return stories.stream()
        .filter(CallRecord::call)
        .map(story -> story.silence().length())
        .max(Comparator.naturalOrder())
        .orElse(Duration.ZERO);
  }
}
