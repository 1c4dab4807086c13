package dev.holdfast.resume;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a client saw of one call, over all its connections. Filled by one thread, and read by any.
 */
public final class Transcript {

  private static final Pattern PROGRESS = Pattern.compile("\"progress\":(\\d+)");
  private static final int TOO_MANY = 500;

  private final List<String> entries = new CopyOnWriteArrayList<>();
  private final List<Integer> progress = new CopyOnWriteArrayList<>();
  private final List<String> ids = new CopyOnWriteArrayList<>();
  private volatile String lastEventId = "";
  private final List<String> results = new CopyOnWriteArrayList<>();
  private int connections;
  private int cuts;
  private final List<String> errors = new CopyOnWriteArrayList<>();
  private boolean refused;
  private boolean away;
  private Duration retry = Duration.ZERO;
  private Duration retryAfter = Duration.ZERO;
  private long lastHeard = System.nanoTime();
  private Duration longestSilence = Duration.ZERO;

  /** Begins empty. */
  public Transcript() {}

  void connected(int status) {
    entries.add("-- connected: " + status);
    connections++;
    away = status >= 500;
    refused = status != 200 && !away;
  }

  /** The stream said how long to wait before it is asked for again. */
  void retry(Duration wait) {
    entries.add("-- retry: " + wait.toMillis());
    retry = wait;
  }

  /** A replica said in how many seconds to try again. */
  void turnedAway(String seconds) {
    entries.add("-- Retry-After: " + seconds);
    retryAfter = Duration.ofSeconds(Long.parseLong(seconds));
  }

  /**
   * How long to wait before the next request.
   *
   * @param unlessTold what to wait when nobody could say
   */
  Duration pause(Duration unlessTold) {
    Duration wait = !retryAfter.isZero() ? retryAfter : away ? unlessTold : retry;
    retryAfter = Duration.ZERO;
    return wait;
  }

  /**
   * A connection broke. Whoever was reached may have acted on the request: to send it again would
   * be to use its id twice, and its two answers would come mixed.
   */
  void cut() {
    entries.add("-- cut");
    cuts++;
    away = false;
  }

  /** A replica could not be reached. */
  void unreachable() {
    entries.add("-- unreachable");
    connections++;
    away = true;
  }

  /** Begins behind an event that a client of before has seen. */
  public void comeFrom(String eventId) {
    lastEventId = eventId;
  }

  /** The id that stands before the first event of the stream. */
  public String streamStart() {
    return stream() + "_0-0";
  }

  /** The name of the stream. */
  public String stream() {
    return lastEventId.substring(0, lastEventId.indexOf('_'));
  }

  /** Whether it is for another replica, and another time, to answer. */
  boolean isAway() {
    return away;
  }

  /** An event arrived; one without data only moves the cursor. */
  void add(String id, String data) {
    entries.add(id + " " + data);
    lastEventId = id;
    if (data.isEmpty()) {
      return;
    }
    heard();
    ids.add(id);
    Matcher matcher = PROGRESS.matcher(data);
    if (matcher.find()) {
      progress.add(Integer.valueOf(matcher.group(1)));
    } else if (data.contains("\"result\"")) {
      results.add(data);
    } else if (data.contains("\"error\"")) {
      errors.add(data);
    }
  }

  private void heard() {
    long now = System.nanoTime();
    Duration silence = Duration.ofNanos(now - lastHeard);
    longestSilence = silence.compareTo(longestSilence) > 0 ? silence : longestSilence;
    lastHeard = now;
  }

  /** Whether the call has come to its definite end. */
  public boolean isComplete() {
    return !results.isEmpty() || !errors.isEmpty();
  }

  /** Without an event id nothing can be resumed; and something is wrong when it takes for ever. */
  public boolean canResume() {
    return !lastEventId.isEmpty() && canRetry();
  }

  boolean canRetry() {
    return !refused && connections < TOO_MANY;
  }

  /** The id of the newest event; empty for none. */
  public String lastEventId() {
    return lastEventId;
  }

  /** The steps that were reported, in the order in which they came. */
  public List<Integer> progress() {
    return List.copyOf(progress);
  }

  /** The ids of all messages. */
  public List<String> ids() {
    return List.copyOf(ids);
  }

  /** How many results came. */
  public int results() {
    return results.size();
  }

  /** The errors that came. */
  public List<String> errors() {
    return List.copyOf(errors);
  }

  /** The longest time between two messages, or from the call to the first. */
  public Duration longestSilence() {
    return longestSilence;
  }

  int cuts() {
    return cuts;
  }

  /** All that happened, line by line. */
  @Override
  public String toString() {
    return String.join("\n", entries);
  }
}
