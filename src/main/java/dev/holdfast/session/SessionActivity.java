package dev.holdfast.session;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Use of a session: since it began, or since it was last recorded.
 *
 * @param lastUsed when a client last used it or listened to it, to the millisecond
 * @param address network address of the last request; null when it is unknown
 * @param requests number of HTTP requests
 * @param errors number of requests answered with an error status
 */
public record SessionActivity(
    Instant lastUsed, @Nullable String address, long requests, long errors) {

  /**
   * @throws IllegalArgumentException when a count is negative
   */
  public SessionActivity {
    if (requests < 0 || errors < 0) {
      throw new IllegalArgumentException("counts must not be negative");
    }
  }

  /** No request, though a client may have listened. */
  public static SessionActivity none(Instant at) {
    return new SessionActivity(at, null, 0, 0);
  }

  /** Returns the activity of a single request. */
  public static SessionActivity request(Instant at, String address, boolean failed) {
    return new SessionActivity(at, address, 1, failed ? 1 : 0);
  }

  /** The sum of both activities. */
  public SessionActivity plus(SessionActivity later) {
    return new SessionActivity(
        lastUsed.isBefore(later.lastUsed) ? later.lastUsed : lastUsed,
        later.address == null ? address : later.address,
        requests + later.requests,
        errors + later.errors);
  }

  /** Returns true if there were no requests. */
  public boolean isEmpty() {
    return requests == 0;
  }
}
