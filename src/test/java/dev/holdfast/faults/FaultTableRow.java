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
 * @param records all calls and streams
 */
record FaultTableRow(String fault, String load, List<CallRecord> records) {

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
                sum(each -> each.call() ? 1 : 0),
                sum(call -> call.transcript().results()),
                sum(call -> call.transcript().errors().size()),
                sum(call -> call.isGone() ? 1 : 0),
                sum(CallRecord::lost),
                sum(CallRecord::duplicated),
                sum(call -> call.transcript().isHung() ? 1 : 0),
                longestSilence().toMillis() / 1000.0);
  }

  private int sum(ToIntFunction<CallRecord> figure) {
    return records.stream().mapToInt(figure).sum();
  }

  private Duration longestSilence() {
    return records.stream()
        .filter(CallRecord::call)
        .map(call -> call.silence().length())
        .max(Comparator.naturalOrder())
        .orElse(Duration.ZERO);
  }
}
