package dev.holdfast.era.north;

import dev.holdfast.call.Exchange;
import dev.holdfast.log.LogException;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.JsonRpcMessages;
import dev.holdfast.protocol.Methods;
import dev.holdfast.session.SessionStoreException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Changes of the tasks that one subscription names (MCP 2026-07-28, Tasks). The states are read
 * from time to time. For the thread of a tail.
 */
final class TaskChanges {

  private static final Logger LOG = Logger.getLogger(TaskChanges.class);

  /** The most tasks that one subscription names. */
  private static final int MAX_TASKS = 100;

  /** A task and its call, without the request that subscribes: its body may be large. */
  private record Named(TaskHandle task, StatelessCall call) {}

  private final Tasks tasks;

  /** Tasks of the gateway by their ids. Those that have ended are removed. */
  private final Map<String, Named> running = new LinkedHashMap<>();

  /** The requests of the server that the client knows of, by the ids of running tasks. */
  private final Map<String, List<String>> told = new HashMap<>();

  /** Ids of running tasks whose state is read next. */
  private final Deque<String> unread = new ArrayDeque<>();

  private final String ids;
  private long next = System.nanoTime();

  private TaskChanges(Tasks tasks, Exchange exchange, List<String> named) {
    this.tasks = tasks;
    for (String raw : named) {
      String id = JsonEdit.text(raw);
      TaskHandle task = tasks.open(exchange, id);
      if (id != null && task != null) {
        running.put(id, new Named(task, tasks.call(exchange, task)));
      }
    }
    ids = running.keySet().stream().map(JsonEdit::quote).collect(Collectors.joining(",", "[", "]"));
  }

  /** Reads the ids of tasks in the filter of a subscription. */
  static TaskChanges of(Tasks tasks, Exchange exchange, byte[] filter) {
    List<String> named = JsonEdit.elements(JsonEdit.raw(filter, "taskIds"));
    if (named.size() > MAX_TASKS) {
      throw StatelessException.invalidParams(
          200, "a subscription names at most " + MAX_TASKS + " tasks");
    }
    return new TaskChanges(tasks, exchange, named);
  }

  /** Adds what the client hears of to the filter in the acknowledgement. */
  void addTo(JsonEdit honoured) {
    if (!ids.equals("[]")) {
      honoured.set(ids, "taskIds");
    }
  }

  /** Time until the next read; null when all tasks have ended. */
  @Nullable Duration untilNews() {
    if (running.isEmpty()) {
      return null;
    }
    return unread.isEmpty() ? Duration.ofNanos(next - System.nanoTime()) : Duration.ZERO;
  }

  /**
   * Reads the states, and returns a notification for each that has changed. At most one of them has
   * a result, which may be large. The others follow with the next call.
   */
  List<byte[]> news() {
    if (unread.isEmpty() && next - System.nanoTime() > 0) {
      return List.of();
    } else if (unread.isEmpty()) {
      unread.addAll(running.keySet());
    }
    List<byte[]> news = new ArrayList<>();
    try {
      boolean ended = false;
      while (!ended && !unread.isEmpty()) {
        ended = addNews(news, unread.removeFirst());
      }
    } catch (LogException.StoreUnavailable | SessionStoreException away) {
      LOG.debugf("states of tasks not read: %s", away.getMessage());
      unread.clear();
    }
    next = System.nanoTime() + TaskState.POLL.toNanos();
    return news;
  }

  /** Adds what is new of a task. Returns true if it has ended. */
  private boolean addNews(List<byte[]> news, String id) {
    Named named = Objects.requireNonNull(running.get(id));
    TaskHandle task = named.task();
    TaskState state = tasks.read(named.call(), task).orElse(null);
    boolean runs = state != null && state.isRunning();
    List<String> asked = state == null ? List.of() : state.asked().ids();
    if (state != null && !(runs && asked.equals(told.get(id)))) {
      JsonEdit notification = JsonRpcMessages.of(Methods.NOTIFICATIONS_TASKS);
      tasks.addTo(notification, "params", id, task, state);
      news.add(notification.toBytes());
    }
    if (runs) {
      told.put(id, asked);
    } else {
      running.remove(id);
      told.remove(id);
    }
    return !runs;
  }
}
