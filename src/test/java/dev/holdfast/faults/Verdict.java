package dev.holdfast.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.resume.Transcript;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What became of all calls of a run, and of what was listened to besides. */
final class Verdict {

  private static final Path REPORTS = Path.of("target", "faults");
  private static final int SHOWN = 3;
  private static final Duration FELT = Duration.ofSeconds(1);
  private static final int SILENCES = 20;
  private static final Comparator<CallRecord> BY_SILENCE =
      Comparator.comparing(call -> call.silence().length());

  private final Scenario scenario;
  private final List<CallRecord> calls;
  private final List<CallRecord> all;
  private final int unanswered;
  private final int unwell;
  private final long began;

  /**
   * Judges.
   *
   * @param unanswered how many calls were cut off before their client knew how to resume
   * @param unwell how many clients got no answer when all faults were over
   * @param began when the schedule did, by {@link System#nanoTime()}
   */
  Verdict(
      Scenario scenario,
      List<Transcript> calls,
      List<Transcript> listened,
      int unanswered,
      int unwell,
      long began) {
    this.scenario = scenario;
    int steps = scenario.load().steps();
    this.calls = calls.stream().map(call -> CallRecord.ofCall(call, steps, began)).toList();
    this.all =
        Stream.concat(
                this.calls.stream(),
                listened.stream().map(stream -> CallRecord.ofStream(stream, scenario.ids(), began)))
            .toList();
    this.unanswered = unanswered;
    this.unwell = unwell;
    this.began = began;
  }

  /**
   * Prints the row of the table in docs/faults.md with its schedule, and writes both to a file,
   * with the call that was silent for longest and all that broke a promise.
   */
  void report() {
    System.out.println(text());
    String broken =
        all.stream()
            .filter(call -> call.breaks(scenario.promise()))
            .map(CallRecord::toString)
            .collect(Collectors.joining("\n"));
    String silent = calls.stream().max(BY_SILENCE).map(CallRecord::toString).orElse("");
    try {
      Files.createDirectories(REPORTS);
      Files.writeString(
          REPORTS.resolve(scenario.name().replace(' ', '-') + ".txt"),
          text()
              + "\nsilent for longest:\n"
              + silences()
              + "\n"
              + silent
              + "\nbroken promises:\n"
              + broken
              + "\n");
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Fails if a promise was broken, and tells the worst of it. */
  void require(FaultTestbed testbed) {
    List<CallRecord> broken =
        all.stream()
            .filter(call -> call.breaks(scenario.promise()))
            .sorted(
                Comparator.comparingInt((CallRecord call) -> call.lost() + call.duplicated())
                    .thenComparing(BY_SILENCE)
                    .reversed())
            .toList();
    assertThat(broken.size()).as(() -> tell(broken, testbed)).isZero();
    assertThat(testbed.server().repeatedCalls()).as(() -> "calls executed twice").isEmpty();
    assertThat(unwell).as(() -> "clients without an answer\n" + tell(all, testbed)).isZero();
    assertThat(isFelt()).as(() -> "nobody has felt anything\n" + text()).isTrue();
    assertThat(unanswered).as(() -> "calls not followed\n" + text()).isLessThan(2 * calls.size());
  }

  /**
   * Where calls may fail, the faults have missed all if none does: nothing was tested. A partition
   * may cost no more than time.
   */
  private boolean isFelt() {
    Scenario.Promise promise = scenario.promise();
    return (promise.whole() && promise.kept())
        || (scenario.hasHosts()
            && calls.stream().anyMatch(call -> call.silence().length().compareTo(FELT) > 0))
        || all.stream().anyMatch(call -> call.isGone() || !call.transcript().errors().isEmpty());
  }

  private String tell(List<CallRecord> broken, FaultTestbed testbed) {
    return broken.stream()
        .limit(SHOWN)
        .map(CallRecord::toString)
        .collect(
            Collectors.joining(
                "\n",
                text() + "\n" + broken.size() + " broken promises, the worst:\n",
                "\n" + testbed.output()));
  }

  private String text() {
    return new FaultTableRow(scenario.name(), scenario.load().toString(), all)
        + "%n%d messages; %d calls not followed; %d clients without an answer in the end%n"
            .formatted(sum(call -> call.transcript().ids().size()), unanswered, unwell)
        + errors()
        + scenario.schedule()
        + "\n";
  }

  /** The calls that heard nothing for longest: when that began, and what happened meanwhile. */
  private String silences() {
    return calls.stream()
        .sorted(BY_SILENCE.reversed())
        .limit(SILENCES)
        .map(CallRecord::silence)
        .map(silence ->
            "  +%.2f s  for %d ms: %s%n"
                .formatted(
                    (silence.since() - began) / 1e9,
                    silence.length().toMillis(),
                    silence.meanwhile()))
        .collect(Collectors.joining());
  }

  private int sum(ToIntFunction<CallRecord> figure) {
    return all.stream().mapToInt(figure).sum();
  }

  /** Each kind of error with its count. */
  private String errors() {
    return all.stream()
        .flatMap(call -> call.transcript().errors().stream())
        .map(error -> error.replaceFirst("\"id\":\\d+", "\"id\":…"))
        .collect(Collectors.groupingBy(error -> error, Collectors.counting()))
        .entrySet()
        .stream()
        .map(each -> each.getValue() + " × " + each.getKey() + "\n")
        .collect(Collectors.joining());
  }
}
