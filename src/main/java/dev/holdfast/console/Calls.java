package dev.holdfast.console;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.console.access.ConsoleRequest;
import dev.holdfast.console.access.Operator;
import dev.holdfast.console.access.RefusedException;
import dev.holdfast.console.fleet.Call;
import dev.holdfast.console.fleet.CallList;
import dev.holdfast.console.fleet.Fleet;
import dev.holdfast.lock.LruMap;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.Inbox;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.LogException;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.StreamIndex;
import dev.holdfast.log.StreamRef;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.pump.Pumps;
import dev.holdfast.relay.stream.OperatorCancellation;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The room of calls: the list, one call, its events, its result, its end. Methods block. */
public final class Calls {

  /** Pause after which a look at messages is a new one. */
  private static final Duration LOOK = Duration.ofMinutes(1);

  private static final int MAX_LOOKS = 1000;
  private static final String ENDED = "the call has ended already";
  private static final int PAGE = 25;
  private static final int EVENTS = 200;
  private static final long EVENT_BYTES = 256 << 10;

  /** Bytes of a message that are shown. */
  private static final int SHOWN = 16 << 10;

  private final Fleet fleet;
  private final EventLog log;
  private final StreamIndex streams;
  private final Inbox inbox;
  private final Pumps pumps;
  private final InstantSource clock;

  /** Time of the last read of messages, by operator and call. */
  private final Map<String, Instant> looks = LruMap.create(MAX_LOOKS);

  /**
   * Creates the room.
   *
   * @param inbox passes cancellations to other replicas
   * @param pumps the calls of this replica
   */
  public Calls(
      Fleet fleet,
      EventLog log,
      StreamIndex streams,
      Inbox inbox,
      Pumps pumps,
      InstantSource clock) {
    this.fleet = fleet;
    this.log = log;
    this.streams = streams;
    this.inbox = inbox;
    this.pumps = pumps;
    this.clock = clock;
  }

  /** Lists calls, as the parameters say. */
  JsonObject list(ConsoleRequest request) {
    CallList page =
        new CallList(
            request.query("state"),
            request.query("q"),
            request.query("sort"),
            request.number("skip", 0),
            request.number("most", PAGE));
    return page.of(fleet.view().calls().values(), clock.millis());
  }

  /** Describes one call; empty if no replica knows it. */
  Optional<JsonObject> one(String key) {
    return fleet.find(key).map(this::described);
  }

  private JsonObject described(Call call) {
    return call.json().put("now", clock.millis()).put("steps", call.steps());
  }

  /** Returns true if an operator begins to read a call: a page that shows it asks each second. */
  boolean isNewLook(Operator operator, Call call) {
    String look = operator.principal().recorded() + " " + call.key();
    Instant now = clock.instant();
    Instant before = looks.put(look, now);
    return before == null || now.isAfter(before.plus(LOOK));
  }

  Optional<Call> find(String key) {
    return fleet.find(key);
  }

  /**
   * Reads events after a position, with the description of the call; empty if there is no such call
   * any more.
   *
   * @param shows whether the operator may read the messages
   */
  Optional<JsonObject> events(Call call, String after, boolean shows) {
    Position from = after.isEmpty() ? Position.START : position(after);
    Optional<JsonObject> page =
        switch (log.readStored(call.stream(), from, EVENTS, EVENT_BYTES)) {
          case ReadResult.Events(List<LogEvent> events) ->
              Optional.of(
                  answer(
                      events.isEmpty() ? from : events.getLast().position(),
                      !events.isEmpty() && events.getLast().last(),
                      events.stream().map(event -> event(event, shows)).toList()));
          case ReadResult.EndOfStream _ -> Optional.of(answer(from, true, List.of()));
          case ReadResult.Gap gap ->
              Optional.of(
                  answer(gap.resumeAfter().orElse(from), gap.resumeAfter().isEmpty(), List.of())
                      .put("gap", true));
          case ReadResult.NoSuchStream _ -> Optional.<JsonObject>empty();
        };
    return page.map(found -> found.put("call", described(call)).put("now", clock.millis()));
  }

  private static Position position(String text) {
    return Position.parse(text)
        .orElseThrow(() -> new RefusedException(400, "after must be a position"));
  }

  private static JsonObject answer(Position next, boolean closed, List<JsonObject> events) {
    return new JsonObject()
        .put("next", next.toString())
        .put("closed", closed)
        .put("events", new JsonArray(events));
  }

  private static JsonObject event(LogEvent event, boolean shows) {
    byte[] payload = event.payload();
    JsonObject json =
        new JsonObject()
            .put("number", event.position().number())
            .put("millis", event.position().millis())
            .put("bytes", payload.length)
            .put("kind", kind(payload))
            .put("progress", JsonEdit.raw(payload, "params", "progress"))
            .put("total", JsonEdit.raw(payload, "params", "total"));
    return shows ? json.put("message", shown(payload)) : json;
  }

  private static String shown(byte[] payload) {
    String text = new String(payload, 0, Math.min(SHOWN, payload.length), UTF_8);
    return payload.length > SHOWN ? text + "…" : text;
  }

  /** A word for a message, which says nothing of its content. */
  private static String kind(byte[] payload) {
    try {
      return payload.length == 0
          ? "end"
          : switch (Envelopes.read(payload)) {
            case Body.Single(Message.Request request) -> request.method();
            case Body.Single(Message.Notification notification) -> notification.method();
            case Body.Single(Message.Response response) ->
                JsonEdit.raw(response.bytes(), "error") == null ? "result" : "error";
            default -> "messages";
          };
    } catch (EnvelopeException malformed) {
      return "message";
    }
  }

  /**
   * Cancels a call, wherever it runs.
   *
   * @throws RefusedException when it has ended, or its inbox is full
   */
  void cancel(Call call) {
    StreamRef stream = call.stream();
    if (streams.find(stream).filter(StreamIndex.Entry::open).isEmpty()) {
      throw new RefusedException(409, ENDED);
    }
    try {
      if (OperatorCancellation.put(inbox, stream)) {
        return;
      }
    } catch (LogException.InboxFull full) {
      throw new RefusedException(409, "the inbox of the session is full; try again");
    }
    if (!log.isWrittenHere(stream) || call.requests().isEmpty()) {
      throw new RefusedException(409, ENDED);
    }
    // A gateway of one replica has no inboxes.
    RequestId.parse(call.requests()).forEach(id -> pumps.cancel(stream, id, true));
  }

  /**
   * Reads the result of a call, which its client may still collect; empty if it is no longer kept.
   *
   * @throws RefusedException while the call runs
   */
  Optional<JsonObject> result(Call call) {
    return streams
        .find(call.stream())
        .map(entry -> {
          if (entry.open()) {
            throw new RefusedException(409, "the call still runs");
          }
          byte[] result = streams.newestMessage(call.stream());
          return new JsonObject().put("result", shown(result)).put("bytes", result.length);
        });
  }
}
