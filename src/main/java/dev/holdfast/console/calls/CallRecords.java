package dev.holdfast.console.calls;

import dev.holdfast.call.SessionId;
import dev.holdfast.lock.AutoLock;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.StreamIndex;
import dev.holdfast.log.StreamRef;
import dev.holdfast.relay.stream.CallListener;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.session.Session;
import io.vertx.core.json.JsonArray;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** The calls that this replica ran or served last. Bounded; the oldest that are over go first. */
public final class CallRecords implements CallListener {

  /** Calls in a report. */
  public static final int MOST = 1000;

  /** Calls that are kept: those of a report, and room for as many that still run. */
  private static final int MAX_KEPT = 2 * MOST;

  /** Records that are examined to make room for one. */
  private static final int EXAMINED = 20;

  private static final int MAX_REQUESTS = 256;

  private final InstantSource clock;
  private final AutoLock lock = new AutoLock();

  /** By stream, the oldest first. Guarded by the lock. */
  private final LinkedHashMap<StreamRef, CallRecord> records = new LinkedHashMap<>();

  private final AtomicLong changes = new AtomicLong();
  private volatile Sessions sessions = new Sessions() {};

  /** Finds the sessions of calls. */
  public interface Sessions {
    /** Finds a session in memory; null if this replica does not know it. */
    default @Nullable Session recent(SessionId id) {
      return null;
    }

    /** Finds a session in the store. */
    default Optional<Session> stored(SessionId id) {
      return Optional.empty();
    }
  }

  /** Creates the records of a replica that has run no call. */
  public CallRecords(InstantSource clock) {
    this.clock = clock;
  }

  /** Finds sessions there from now on. */
  public void find(Sessions found) {
    sessions = found;
  }

  private void changed() {
    long _ = changes.incrementAndGet();
  }

  /** A number that is another one after each change. */
  public long changes() {
    return changes.get();
  }

  @Override
  public void began(StreamRef stream, String requests, String tool) {
    record(stream, requests, tool).started(clock.millis());
  }

  @Override
  public void takenOver(StreamRef stream, String requests) {
    if (StreamNames.answersRequests(stream)) {
      record(stream, requests, "").takenOver(clock.millis());
    }
  }

  @Override
  public void received(StreamRef stream) {
    began(stream, "", "");
  }

  @Override
  public Call written(StreamRef stream) {
    CallRecord record = find(stream);
    return record == null ? Call.NONE : new Recorded(record);
  }

  @Override
  public Call connected(StreamRef stream, boolean resumes) {
    if (!StreamNames.answersRequests(stream)) {
      return Call.NONE;
    }
    CallRecord record = known(stream);
    record.connected(resumes, clock.millis());
    changed();
    return new Recorded(record);
  }

  @Override
  public void held(StreamRef stream) {
    known(stream).answeredEarly(CallRecord.Kind.HELD, clock.millis());
    changed();
  }

  @Override
  public void becameTask(StreamRef stream) {
    known(stream).answeredEarly(CallRecord.Kind.TASK, clock.millis());
    changed();
  }

  @Override
  public void collected(StreamRef stream) {
    known(stream).delivered(clock.millis());
    changed();
  }

  @Override
  public void delivered(StreamRef stream) {
    CallRecord record = find(stream);
    if (record != null) {
      record.delivered(clock.millis());
      changed();
    }
  }

  /** A writer or a reader of a call. */
  private final class Recorded implements Call {

    private final CallRecord record;

    Recorded(CallRecord record) {
      this.record = record;
    }

    @Override
    public void appended(List<NewEvent> events) {
      record.appended(events, clock.millis());
      changed();
    }

    @Override
    public void left() {
      record.left(clock.millis());
      changed();
    }
  }

  /** Returns the record of a call that another replica may run. */
  private CallRecord known(StreamRef stream) {
    CallRecord known = find(stream);
    return known == null ? record(stream, "", "") : known;
  }

  @Nullable CallRecord find(StreamRef stream) {
    try (var _ = lock.hold()) {
      return records.get(stream);
    }
  }

  private CallRecord record(StreamRef stream, String requests, String tool) {
    Session session = SessionId.parse(stream.key().value()).map(sessions::recent).orElse(null);
    String kept = requests.length() > MAX_REQUESTS ? "" : requests;
    CallRecord created = new CallRecord(stream, session, tool, kept);
    try (var _ = lock.hold()) {
      CallRecord before = records.get(stream);
      if (before != null) {
        return before;
      }
      if (records.size() >= MAX_KEPT) {
        removeOldest();
      }
      records.put(stream, created);
    }
    changed();
    return created;
  }

  /** The oldest one goes if many in a row still run. */
  private void removeOldest() {
    StreamRef oldest = records.firstEntry().getKey();
    Iterator<Map.Entry<StreamRef, CallRecord>> each = records.entrySet().iterator();
    for (int i = 0; i < EXAMINED && each.hasNext(); i++) {
      Map.Entry<StreamRef, CallRecord> record = each.next();
      if (record.getValue().isOver()) {
        oldest = record.getKey();
        break;
      }
    }
    CallRecord _ = records.remove(oldest);
  }

  /**
   * Returns reports of the last calls, the newest first. Asks the store about those that other
   * replicas have begun, once. Throws as the methods of {@link StreamIndex} do.
   */
  public JsonArray last(StreamIndex streams) {
    List<CallRecord> all;
    try (var _ = lock.hold()) {
      all = new ArrayList<>(records.sequencedValues().reversed());
    }
    List<CallRecord> last = all.subList(0, Math.min(MOST, all.size()));
    last.stream().filter(CallRecord::isIncomplete).forEach(record -> complete(record, streams));
    return new JsonArray(last.stream().map(CallRecord::report).toList());
  }

  private void complete(CallRecord record, StreamIndex streams) {
    Optional<Session> session = sessions.stored(StreamNames.session(record.stream()));
    Optional<StreamIndex.Entry> entry = streams.find(record.stream());
    Optional<StreamIndex.Opening> opening = entry.map(found -> found.details().opening());
    record.complete(
        session.orElse(null),
        opening.map(StreamIndex.Opening::tool).orElse(""),
        opening.map(found -> found.started().toEpochMilli()).orElse(1L),
        entry.map(found -> found.last().number()).orElse(0L));
  }
}
