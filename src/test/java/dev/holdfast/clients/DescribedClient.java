package dev.holdfast.clients;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;

/** A client as a configuration describes it. */
public record DescribedClient(
    Optional<String> userAgent,
    Optional<String> clientInfo,
    boolean retry,
    boolean priming,
    OptionalInt resumes,
    Duration timeLimit)
    implements KnownClient.Settings {

  /** A client with that user agent, which resumes so often. */
  public static DescribedClient resuming(String userAgent, int attempts) {
    return new DescribedClient(
        Optional.of(userAgent),
        Optional.empty(),
        true,
        true,
        OptionalInt.of(attempts),
        Duration.ZERO);
  }
}
