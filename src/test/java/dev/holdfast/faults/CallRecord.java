package dev.holdfast.faults;

import dev.holdfast.resume.Transcript;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What became of one call, or of one standalone stream.
 *
 * @param lost how many messages are missing without a word to the client, its definite end included
 * @param duplicated how many came again, or too late
 * @param silence the longest since the schedule has begun
 */
record CallRecord(
    Transcript transcript, boolean call, int lost, int duplicated, Transcript.Silence silence) {

  private static final int NOT_FOUND = 404;
  private static final int GONE = 410;

  /**
   * Events that one append may hold when its primary is lost. A client that already has them is
   * told of a gap and gets them again, because the writer has written them to the new primary.
   */
  private static final int IN_FLIGHT = 10;

  /**
   * A call that was to count so far.
   *
   * @param since when the schedule began, by {@link System#nanoTime()}
   */
  static CallRecord ofCall(Transcript call, int steps, long since) {
    List<Integer> heard = call.progress();
    int lost = holes(heard, 0, call.gaps());
    if (call.results() > 0 && !call.gaps().contains(heard.size())) {
      lost += steps - highest(heard);
    }
    int ends = call.results() + call.errors().size();
    if (ends == 0 && !call.isHung() && !isGone(call)) {
      lost++;
    }
    int twice = repeated(call) + Math.max(0, ends - 1);
    return new CallRecord(call, true, lost, twice, call.longestSilence(since));
  }

  /**
   * A standalone stream, for which the client was not given an id to begin with.
   *
   * @param ids whether the server gives ids; what one without says to nobody is nowhere
   * @param since likewise
   */
  static CallRecord ofStream(Transcript stream, boolean ids, long since) {
    List<Integer> heard = stream.progress();
    int lost = ids && !heard.isEmpty() ? holes(heard, heard.getFirst() - 1, stream.gaps()) : 0;
    return new CallRecord(stream, false, lost, repeated(stream), stream.longestSilence(since));
  }

  /** Counts the missing numbers of which the client was not told. */
  private static int holes(List<Integer> numbers, int before, Set<Integer> gaps) {
    int holes = 0;
    int last = before;
    for (int i = 0; i < numbers.size(); i++) {
      int number = numbers.get(i);
      holes += gaps.contains(i) ? 0 : Math.max(0, number - last - 1);
      last = Math.max(last, number);
    }
    return holes;
  }

  private static int repeated(Transcript transcript) {
    int repeated = transcript.ids().size() - new HashSet<>(transcript.ids()).size();
    List<Integer> numbers = transcript.progress();
    int last = 0;
    for (int i = 0; i < numbers.size(); i++) {
      int number = numbers.get(i);
      if (transcript.gaps().contains(i) && number > last - IN_FLIGHT) {
        last = Math.min(last, number - 1);
      }
      repeated += number <= last ? 1 : 0;
      last = Math.max(last, number);
    }
    return repeated;
  }

  private static int highest(List<Integer> numbers) {
    return numbers.stream().mapToInt(Integer::intValue).max().orElse(0);
  }

  private static boolean isGone(Transcript transcript) {
    return transcript.refusedWith() == NOT_FOUND || transcript.refusedWith() == GONE;
  }

  /** Whether its session, or what its client had not seen, was gone, and the client was told. */
  boolean isGone() {
    return isGone(transcript) || !transcript.gaps().isEmpty();
  }

  /** Whether it is not as was promised. */
  boolean breaks(Scenario.Promise promise) {
    return lost + duplicated > 0
        || transcript.isHung()
        || (promise.kept() && isGone())
        || (promise.whole() && !transcript.errors().isEmpty())
        || (call && isLonger(silence.length(), promise.silence()));
  }

  private static boolean isLonger(Duration silence, Duration promised) {
    return promised.isPositive() && silence.compareTo(promised) > 0;
  }

  @Override
  public String toString() {
    return "== %s: lost %d, duplicated %d%n%s"
        .formatted(call ? "call" : "standalone stream", lost, duplicated, transcript);
  }
}
