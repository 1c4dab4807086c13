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

  /** How long nobody is asked who could not tell: to ask may take long then. */
  private static final long PAUSE = Duration.ofSeconds(10).toNanos();

  /**
   * @param until when to ask anew, by {@link System#nanoTime()}
   */
  private record Read(LogLevel level, long until) {

    boolean isOver() {
      return System.nanoTime() - until >= 0;
    }
  }

  private final LogLevels levels;
  private final String session;

  /** Set by any thread of the tool. */
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
    if (known == null || known.isOver()) {
      known = ask(known);
      last = known;
    }
    return known.level();
  }

  /** While nobody can tell, the level stays what it was. */
  private Read ask(@Nullable Read before) {
    try {
      LogLevel level = levels.find(session).orElse(LogLevel.DEFAULT);
      return new Read(level, System.nanoTime() + LIFE);
    } catch (UpstreamException away) {
      LogLevel level = before == null ? LogLevel.DEFAULT : before.level();
      return new Read(level, System.nanoTime() + PAUSE);
    }
  }
}
