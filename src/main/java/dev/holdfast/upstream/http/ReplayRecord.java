package dev.holdfast.upstream.http;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Experience with the streams of a server: whether it replays the events after an id. Many servers
 * give ids to their events and replay none. Thread-safe.
 */
final class ReplayRecord {

  /** A server may be replaced by another one. */
  private static final Duration VALID = Duration.ofMinutes(5);

  private record Finding(boolean replays, Deadline until) {}

  private volatile @Nullable Finding latest;

  void record(boolean replays) {
    latest = new Finding(replays, Deadline.after(VALID));
  }

  /** Returns true if a stream was resumed lately, and none has failed to resume since. */
  boolean showsReplay() {
    return shows(true);
  }

  /** Returns true if a stream could not be resumed lately, and none was since. */
  boolean showsNoReplay() {
    return shows(false);
  }

  private boolean shows(boolean replays) {
    Finding finding = latest;
    return finding != null && finding.replays == replays && !finding.until.hasPassed();
  }
}
