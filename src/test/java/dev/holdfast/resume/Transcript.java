package dev.holdfast.resume;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a client saw of one call, over all its connections. Filled by one thread, and read by any.
 */
public final class Transcript {

  private static final Pattern PROGRESS = Pattern.compile("\"progress\":(\\d+)");
  private static final int TOO_MANY = 500;
  private static final Duration SHORTLY = Duration.ofMillis(100);

  /** Shorter silences are not worth a word. */
  private static final Duration UNHEEDED = Duration.ofMillis(200);

  private final List<Entry> entries = Collections.synchronizedList(new ArrayList<>());
  private final Set<Integer> gaps = ConcurrentHashMap.newKeySet();
  private final List<Integer> progress = Collections.synchronizedList(new ArrayList<>());
  private final List<String> ids = Collections.synchronizedList(new ArrayList<>());
  private final List<String> results = new CopyOnWriteArrayList<>();
  private final List<String> errors = new CopyOnWriteArrayList<>();
  private final long began = System.nanoTime();
  private volatile String lastEventId = "";
  private volatile int refusedWith;
  private volatile boolean hung;

  // The filling thread's own.
  private int connections;
  private int cuts;
  private boolean away;
  private Duration retry = SHORTLY;
  private Duration pause = SHORTLY;
  private long lastHeard = began;
  private int heardEntries;
  private final List<Silence> silences = new CopyOnWriteArrayList<>();

  /** Written out only when somebody asks: there are many. */
  private record Entry(long millis, String id, String what) {
    @Override
    public String toString() {
      return "%6d ms %s %s".formatted(millis, id, what);
    }
  }

  /**
   * A time in which no message came.
   *
   * @param since when it began, by {@link System#nanoTime()}
   * @param meanwhile what happened otherwise
   */
  public record Silence(long since, Duration length, List<String> meanwhile) {

    public Silence {
      meanwhile = List.copyOf(meanwhile);
    }
  }

  /** Begins empty. */
  public Transcript() {}

  /**
   * An answer began.
   *
   * @param retryAfter seconds after which to ask again; may be empty
   */
  void connected(int status, String retryAfter) {
    note("-- connected:", Integer.toString(status));
    connections++;
    boolean notNow = status == 503 || status == 429;
    pause = retryAfter.isEmpty() ? retry : Duration.ofSeconds(Integer.parseInt(retryAfter));
    // Of a call, any other failure is the answer; only of its rest may be asked for again.
    away = notNow || (status >= 500 && !lastEventId.isEmpty());
    if (status >= 500 && !away) {
      errors.add("status " + status);
    }
    refusedWith = status == 200 || away ? 0 : status;
    if (refusedWith != 0) {
      heard();
    }
  }

  /** An answer ended in order. */
  void ended() {
    note("--", "ended");
  }

  /**
   * A connection broke. The peer may have acted on the request: to send it again would be to use
   * its id twice, and its two answers would come mixed.
   *
   * @param silent whether it is the client who broke it, because nothing came
   */
  void cut(boolean silent) {
    note("--", silent ? "given up" : "cut");
    cuts++;
    away = false;
    pause = retry;
  }

  /** A replica could not be reached. */
  void unreachable() {
    note("--", "unreachable");
    connections++;
    away = true;
    pause = retry;
  }

  /** The server said how long to wait before each connection. */
  void retryAfter(Duration delay) {
    note("-- retry:", Long.toString(delay.toMillis()));
    retry = delay;
    pause = delay;
  }

  /** How long to wait before the next connection. */
  Duration pause() {
    return pause;
  }

  /** The client has waited long enough. */
  void hangs() {
    note("--", "hung");
    hung = true;
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
    note(id, data);
    boolean hasOwnId = !id.equals(lastEventId);
    lastEventId = id;
    if (data.isEmpty()) {
      return;
    }
    heard();
    if (hasOwnId) {
      ids.add(id);
    }
    Matcher matcher = PROGRESS.matcher(data);
    if (matcher.find()) {
      progress.add(Integer.valueOf(matcher.group(1)));
    } else if (data.contains("\"result\"")) {
      results.add(data);
    } else if (data.contains("\"error\"")) {
      errors.add(data);
    }
  }

  /** The client was told that events are missing here. */
  void gap(String comment) {
    note("-- comment:", comment);
    gaps.add(progress.size());
  }

  private void note(String id, String what) {
    entries.add(new Entry((System.nanoTime() - began) / 1_000_000, id, what));
  }

  private void heard() {
    Duration silence = silence();
    if (silence.compareTo(UNHEEDED) > 0) {
      silences.add(
          new Silence(lastHeard, silence, told().subList(heardEntries, entries.size() - 1)));
    }
    lastHeard = System.nanoTime();
    heardEntries = entries.size();
  }

  /** How long no message has come. */
  Duration silence() {
    return Duration.ofNanos(System.nanoTime() - lastHeard);
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
    return refusedWith == 0 && connections < TOO_MANY;
  }

  /** The status with which the client was turned away for good; 0 for none. */
  public int refusedWith() {
    return refusedWith;
  }

  /** Whether the client has given up waiting. */
  public boolean isHung() {
    return hung;
  }

  /** The id of the newest event; empty for none. */
  public String lastEventId() {
    return lastEventId;
  }

  /** The steps that were reported, in the order in which they came. */
  public List<Integer> progress() {
    return List.copyOf(progress);
  }

  /** Before which of the steps, counted from 0, the client was told that events are missing. */
  public Set<Integer> gaps() {
    return Set.copyOf(gaps);
  }

  /** The ids of all messages that have one of their own. */
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
    return longestSilence(began).length();
  }

  /**
   * The longest of those that did not begin before.
   *
   * @param since by {@link System#nanoTime()}
   */
  public Silence longestSilence(long since) {
    return silences.stream()
        .filter(silence -> silence.since() - since >= 0)
        .max(Comparator.comparing(Silence::length))
        .orElse(new Silence(since, Duration.ZERO, List.of()));
  }

  int cuts() {
    return cuts;
  }

  /** All that happened, line by line, each with the time since the beginning. */
  @Override
  public String toString() {
    return String.join("\n", told());
  }

  private List<String> told() {
    return List.copyOf(entries).stream().map(Entry::toString).toList();
  }
}
