package dev.holdfast.session;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What a session was used for: since it began, or since a store last heard of it.
 *
 * @param lastUsed when it was last used or listened to, to the millisecond
 * @param address from where its client asked last; null when that is not known
 * @param requests how many HTTP requests it made
 * @param errors how many of these were answered with an error status
 */
public record SessionActivity(
    Instant lastUsed, @Nullable String address, long requests, long errors) {

  /**
   * @throws IllegalArgumentException when there are fewer than no requests or errors
   */
  public SessionActivity {
    if (requests < 0 || errors < 0) {
      throw new IllegalArgumentException("counts are not negative");
    }
  }

  /** No request; somebody may have listened. */
  public static SessionActivity none(Instant at) {
    return new SessionActivity(at, null, 0, 0);
  }

  /** One request. */
  public static SessionActivity request(Instant at, String address, boolean failed) {
    return new SessionActivity(at, address, 1, failed ? 1 : 0);
  }

  /** Both together. */
  public SessionActivity plus(SessionActivity later) {
    return new SessionActivity(
        lastUsed.isBefore(later.lastUsed) ? later.lastUsed : lastUsed,
        later.address == null ? address : later.address,
        requests + later.requests,
        errors + later.errors);
  }

  /** Whether there is nothing to be noted but a time. */
  public boolean isEmpty() {
    return requests == 0;
  }
}
