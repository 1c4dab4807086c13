package dev.holdfast.clients;

import dev.holdfast.config.Range;
import io.smallrye.config.WithDefault;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * Abilities and limits of a client. In the patterns, {@code *} stands for any characters.
 *
 * @param name the name of the row
 * @param userAgent pattern of the header {@code User-Agent} of its {@code initialize}; null for any
 * @param clientInfo pattern of the name and version in its {@code initialize}, with a slash between
 *     them; null for any
 * @param retry whether it takes an event stream with the field {@code retry}
 * @param priming whether it takes an event with an id and empty data
 * @param resumes attempts in a row to resume a stream before it gives up: 0 if it never resumes;
 *     null when unknown
 * @param timeLimit time after which it gives up a request, unless told otherwise; null when unknown
 * @param source where this is known from: a URL, or how it was measured
 */
public record KnownClient(
    String name,
    @Nullable String userAgent,
    @Nullable String clientInfo,
    boolean retry,
    boolean priming,
    @Nullable Integer resumes,
    @Nullable Duration timeLimit,
    String source) {

  /** Any other client: it takes and does what the specification says. */
  public static final KnownClient UNKNOWN =
      new KnownClient("-", null, null, true, true, null, null, "the specification");

  /**
   * Attempts that suffice to leave a replica that stops: it may get the first two, before a load
   * balancer knows that it stops.
   */
  private static final int ENOUGH = 3;

  /** A client that the configuration describes. */
  public interface Settings {

    /** Pattern of the client's {@code User-Agent}. */
    Optional<String> userAgent();

    /** Pattern of the client's name and version: {@code my-agent/*}. */
    Optional<String> clientInfo();

    /** True if the client takes the field {@code retry}. */
    @WithDefault("true")
    boolean retry();

    /** True if the client takes an event with an id and empty data. */
    @WithDefault("true")
    boolean priming();

    /** Attempts in a row to resume a stream before the client gives up. */
    @Range(min = "0", max = "1000")
    OptionalInt resumes();

    /** Time after which the client gives up a request; {@code 0s} when unknown. */
    @WithDefault("0s")
    @Range(min = "0s", max = "1d")
    Duration timeLimit();
  }

  static KnownClient of(String name, Settings settings) {
    OptionalInt resumes = settings.resumes();
    return new KnownClient(
        name,
        settings.userAgent().orElse(null),
        settings.clientInfo().orElse(null),
        settings.retry(),
        settings.priming(),
        resumes.isPresent() ? resumes.getAsInt() : null,
        settings.timeLimit().isZero() ? null : settings.timeLimit(),
        "the configuration");
  }

  /**
   * Returns true if it goes on elsewhere when a replica that stops closes its stream.
   *
   * @param seen whether it has resumed a stream before
   */
  public boolean moves(boolean seen) {
    return resumes == null ? seen : resumes >= ENOUGH;
  }

  /** The row in one line for people to read. */
  public String describe() {
    return "retry=%s priming=%s resumes=%s time-limit=%s user-agent=%s client-info=%s (%s)"
        .formatted(
            retry,
            priming,
            resumes == null ? "unknown" : resumes,
            timeLimit == null ? "unknown" : timeLimit.toSeconds() + "s",
            userAgent == null ? "*" : userAgent,
            clientInfo == null ? "*" : clientInfo,
            source);
  }
}
