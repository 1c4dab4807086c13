package dev.holdfast.console.calls;

import dev.holdfast.lock.AutoLock;
import dev.holdfast.lock.Hold;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.StreamRef;
import dev.holdfast.relay.stream.CallState;
import dev.holdfast.session.Session;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * State of a call as one replica sees it: as the owner, from the connections of clients, or both.
 * Contains no messages. Thread-safe.
 */
final class CallRecord {

  /** Steps that are kept of a call: its first ones and its last one. */
  private static final int MAX_STEPS = 60;

  /** Bytes of the newest message that tell whether the server waits for an answer. */
  private static final int BEGINNING = 256;

  private final AutoLock lock = new AutoLock();
  private final StreamRef stream;

  // Guarded by the lock.
  private @Nullable Session session;
  private String tool;
  private String requests;
  private long started;
  private boolean isOwned;
  private boolean isTakenOver;
  private long eventsBefore;
  private long events;
  private long bytes;
  private long changed;
  private byte[] newest = new byte[0];
  private String end = "";
  private int connections;
  private @Nullable Kind early;
  private boolean isDelivered;
  private boolean isComplete;
  private final List<Step> steps = new ArrayList<>();

  /** The last report; null after a change. Nobody may change it. */
  private @Nullable JsonObject report;

  /**
   * A step of a call.
   *
   * @param millis when
   * @param kind what
   */
  private record Step(long millis, Kind kind) {}

  /** Kinds of steps. */
  enum Kind {
    STARTED,
    CONNECTED,
    RESUMED,
    LEFT,
    /** The client got a handle, and has left. */
    HELD,
    /** The client got the id of a task, and has left. */
    TASK,
    TAKEN_OVER,
    ENDED,
    DELIVERED;

    String text() {
      return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
  }

  CallRecord(StreamRef stream, @Nullable Session session, String tool, String requests) {
    this.stream = stream;
    this.session = session;
    this.tool = tool;
    this.requests = requests;
  }

  private Hold change() {
    Hold hold = lock.hold();
    report = null;
    return hold;
  }

  void started(long now) {
    try (var _ = change()) {
      isOwned = true;
      started = now;
      step(now, Kind.STARTED);
    }
  }

  void takenOver(long now) {
    try (var _ = change()) {
      isOwned = true;
      isTakenOver = true;
      step(now, Kind.TAKEN_OVER);
    }
  }

  /** Completes the record of a call that another replica has begun. */
  void complete(@Nullable Session found, String foundTool, long foundStart, long foundEvents) {
    try (var _ = change()) {
      isComplete = true;
      session = session == null ? found : session;
      tool = tool.isEmpty() ? foundTool : tool;
      started = started == 0 ? foundStart : started;
      eventsBefore = Math.max(0, foundEvents - events);
    }
  }

  void appended(List<NewEvent> added, long now) {
    NewEvent last = added.getLast();
    byte[] payload = last.payload();
    String ended = last.last() ? CallState.ending(payload) : "";
    try (var _ = change()) {
      events += added.size();
      bytes += NewEvent.bytes(added);
      changed = now;
      newest = payload.length <= BEGINNING ? payload : Arrays.copyOf(payload, BEGINNING);
      if (last.last()) {
        end = ended;
        step(now, Kind.ENDED);
      }
    }
  }

  void connected(boolean resumes, long now) {
    try (var _ = change()) {
      connections++;
      step(now, resumes ? Kind.RESUMED : Kind.CONNECTED);
    }
  }

  void left(long now) {
    try (var _ = change()) {
      connections--;
      boolean isEarly = !steps.isEmpty() && steps.getLast().kind() == early;
      if (!isDelivered && !isEarly) {
        step(now, Kind.LEFT);
      }
    }
  }

  /** Notes that the response ends before the call does. */
  void answeredEarly(Kind how, long now) {
    try (var _ = change()) {
      early = how;
      step(now, how);
    }
  }

  void delivered(long now) {
    try (var _ = change()) {
      if (!isDelivered) {
        isDelivered = true;
        // The tail may close its connection before it says that the client has all.
        if (!steps.isEmpty() && steps.getLast().kind() == Kind.LEFT) {
          Step _ = steps.removeLast();
        }
        step(now, Kind.DELIVERED);
      }
    }
  }

  private void step(long now, Kind kind) {
    changed = now;
    if (steps.size() == MAX_STEPS) {
      Step _ = steps.removeLast();
    }
    steps.add(new Step(now, kind));
  }

  /** Returns true if nothing more happens to it here. */
  boolean isOver() {
    try (var _ = lock.hold()) {
      return connections == 0 && (!isOwned || !end.isEmpty());
    }
  }

  /** Returns true if it lacks what only the store knows. */
  boolean isIncomplete() {
    try (var _ = lock.hold()) {
      return isOwned && tool.isEmpty() && !isComplete;
    }
  }

  StreamRef stream() {
    return stream;
  }

  /** Describes the call for a report, which only replicas see: it has the id of its session. */
  JsonObject report() {
    try (var _ = lock.hold()) {
      if (report == null) {
        report = described();
      }
      return report;
    }
  }

  private JsonObject described() {
    boolean isWaiting =
        end.isEmpty()
            && isOwned
            && CallState.of(true, newest).filter(CallState.WAITING::equals).isPresent();
    JsonObject described =
        new JsonObject()
            .put("session", stream.key().value())
            .put("stream", stream.name())
            .put("tool", tool)
            .put("requests", requests)
            .put("started", started)
            .put("owned", isOwned)
            .put("takenOver", isTakenOver)
            .put("waiting", isWaiting)
            .put("events", eventsBefore + events)
            .put("bytes", bytes)
            .put("changed", changed)
            .put("end", end)
            .put("connections", connections)
            .put("delivered", isDelivered)
            .put("early", early == null ? "" : early.text())
            .put(
                "steps",
                new JsonArray(
                    steps.stream()
                        .map(step -> new JsonArray().add(step.millis()).add(step.kind().text()))
                        .toList()));
    if (session != null) {
      described
          .put("upstream", session.upstream())
          .put("principal", session.principal().recorded())
          .put("client", session.client())
          .put("version", session.version().wire())
          .put("agent", session.userAgent());
    }
    return described;
  }
}
