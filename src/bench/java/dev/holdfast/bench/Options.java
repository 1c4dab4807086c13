package dev.holdfast.bench;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the command line asks for.
 *
 * @param scale how much is measured in a round
 * @param warm how long each gateway works before the first round
 * @param rounds how often each contender has its turn
 * @param only what is measured
 * @param before the {@code quarkus-run.jar} of another build to compare with; null for none
 */
record Options(
    Scale scale, Duration warm, int rounds, Set<Measurement> only, @Nullable Path before) {

  /** Printed when an option is unknown. */
  static final String USAGE =
      "--quick, --warm <seconds>, --rounds <number>, --before <quarkus-run.jar>, "
          + "--only calls|live|burst|replay|idle (several times for several)";

  private static final int ROUNDS = 5;

  Options {
    if (rounds < 1) {
      throw new IllegalArgumentException("--rounds must be positive");
    }
    only = Collections.unmodifiableSet(EnumSet.copyOf(only));
  }

  /**
   * Reads the command line.
   *
   * @throws IllegalArgumentException if it makes no sense
   */
  static Options parse(String... args) {
    Scale scale = Scale.FULL;
    Duration warm = null;
    Path before = null;
    int rounds = 0;
    Set<Measurement> only = EnumSet.noneOf(Measurement.class);
    Iterator<String> words = List.of(args).iterator();
    while (words.hasNext()) {
      String word = words.next();
      switch (word) {
        case "--quick" -> scale = Scale.QUICK;
        case "--rounds" -> rounds = Integer.parseInt(valueOf(word, words));
        case "--warm" -> warm = Duration.ofSeconds(Integer.parseInt(valueOf(word, words)));
        case "--before" -> before = Path.of(valueOf(word, words));
        case "--only" -> only.add(Measurement.named(valueOf(word, words)));
        default -> throw new IllegalArgumentException("unknown: " + word);
      }
    }
    if (rounds == 0) {
      rounds = scale.equals(Scale.QUICK) ? 1 : ROUNDS;
    }
    return new Options(
        scale,
        warm == null ? scale.warm() : warm,
        rounds,
        only.isEmpty() ? EnumSet.allOf(Measurement.class) : only,
        before);
  }

  private static String valueOf(String option, Iterator<String> words) {
    if (!words.hasNext()) {
      throw new IllegalArgumentException(option + " needs a value");
    }
    return words.next();
  }
}
