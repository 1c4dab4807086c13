package dev.holdfast.upstream.local;

import dev.holdfast.upstream.UpstreamException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * From which level on the client of a call wants to hear of it. It may choose another while the
 * call runs, at whichever replica, so it is looked up anew, though not for each message.
 */
final class LogThreshold {

  /** How old the level may be that a call goes by, in ns. */
  private static final long LIFE = Duration.ofSeconds(1).toNanos();

  private record Read(LogLevel level, long at) {}

  private final LogLevels levels;
  private final String session;

  /** Set by any thread of the tool; whichever comes last has asked last. */
  private volatile @Nullable Read last;

  LogThreshold(LogLevels levels, String session) {
    this.levels = levels;
    this.session = session;
  }

  boolean lets(LogLevel level) {
    return level.compareTo(chosen()) >= 0;
  }

  private LogLevel chosen() {
    Read known = last;
    long now = System.nanoTime();
    if (known == null || now - known.at() >= LIFE) {
      known = new Read(ask(known), now);
      last = known;
    }
    return known.level();
  }

  /** While nobody can tell, the level stays what it was. */
  private LogLevel ask(@Nullable Read before) {
    try {
      return levels.find(session).orElse(LogLevel.DEFAULT);
    } catch (UpstreamException away) {
      return before == null ? LogLevel.DEFAULT : before.level();
    }
  }
}
