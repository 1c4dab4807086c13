package dev.holdfast.upstream.local.logging;

import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.local.LogLevel;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Decides which log messages of a call reach its client. The client may change the level during the
 * call, on any replica. The filter therefore reads the level again, at most once per second.
 */
public final class LogFilter {

  private static final long REFRESH_NANOS = Duration.ofSeconds(1).toNanos();

  /** Pause after the store failed: its next failure may take long, too. */
  private static final long RETRY_NANOS = Duration.ofSeconds(10).toNanos();

  /**
   * @param expires time to read the level again, by {@link System#nanoTime()}
   */
  private record CachedLevel(LogLevel level, long expires) {}

  private final LogLevelStore levels;
  private final String session;

  /** Set by any thread of the tool. */
  private volatile @Nullable CachedLevel cached;

  /** Creates the filter of one call. */
  public LogFilter(LogLevelStore levels, String session) {
    this.levels = levels;
    this.session = session;
  }

  /** Returns whether messages of a level reach the client. */
  public boolean accepts(LogLevel level) {
    CachedLevel known = cached;
    if (known == null || System.nanoTime() - known.expires() >= 0) {
      known = read(known == null ? LogLevel.DEFAULT : known.level());
      cached = known;
    }
    return level.compareTo(known.level()) >= 0;
  }

  /** While the store fails, the previous level applies. */
  private CachedLevel read(LogLevel before) {
    try {
      LogLevel level = levels.find(session).orElse(LogLevel.DEFAULT);
      return new CachedLevel(level, System.nanoTime() + REFRESH_NANOS);
    } catch (UpstreamException storeFailed) {
      return new CachedLevel(before, System.nanoTime() + RETRY_NANOS);
    }
  }
}
