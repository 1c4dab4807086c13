package dev.holdfast.resume;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What a client saw of one call, over all its connections. */
final class Transcript {

  private static final Pattern PROGRESS = Pattern.compile("\"progress\":(\\d+)");
  private static final int TOO_MANY = 500;

  private final List<String> entries = new ArrayList<>();
  private final List<Integer> progress = new ArrayList<>();
  private final List<String> ids = new ArrayList<>();
  private String lastEventId = "";
  private int results;
  private int connections;
  private int cuts;
  private boolean refused;

  void connected(int status) {
    entries.add("-- connected: " + status);
    connections++;
    refused = status != 200;
  }

  void cut() {
    entries.add("-- cut");
    cuts++;
  }

  /** An event arrived; one without data only moves the cursor. */
  void add(String id, String data) {
    entries.add(id + " " + data);
    lastEventId = id;
    if (data.isEmpty()) {
      return;
    }
    ids.add(id);
    Matcher matcher = PROGRESS.matcher(data);
    if (matcher.find()) {
      progress.add(Integer.valueOf(matcher.group(1)));
    } else if (data.contains("\"result\"")) {
      results++;
    }
  }

  boolean isComplete() {
    return results > 0;
  }

  /** Without an event id nothing can be resumed; and something is wrong when it takes for ever. */
  boolean canResume() {
    return !lastEventId.isEmpty() && !refused && connections < TOO_MANY;
  }

  String lastEventId() {
    return lastEventId;
  }

  List<Integer> progress() {
    return progress;
  }

  List<String> ids() {
    return ids;
  }

  int results() {
    return results;
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
