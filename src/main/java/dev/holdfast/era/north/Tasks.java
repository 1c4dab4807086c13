package dev.holdfast.era.north;

import dev.holdfast.call.Conversation;
import dev.holdfast.call.Exchange;
import dev.holdfast.lock.LruMap;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.StreamRef;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.ClientCapabilities;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.JsonRpcMessages;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.Reply;
import dev.holdfast.relay.stream.CallListener;
import dev.holdfast.relay.stream.RelayException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Tasks that the gateway makes of calls that run for long (MCP 2026-07-28, extension {@code
 * io.modelcontextprotocol/tasks}). The stream of the call is the only record. Thread-safe.
 */
final class Tasks {

  private static final int PAGE = 256;
  private static final int MAX_KNOWN = 10_000;
  private static final String UNKNOWN = "there is no such task, or no more";

  private final StatelessContext context;
  private final EventLog log;
  private final CallSettings settings;
  private final CallListener calls;

  /** Positions before which no question of a running call is open. */
  private final Map<StreamRef, Position> settled = LruMap.create(MAX_KNOWN);

  Tasks(StatelessContext context, EventLog log, CallSettings settings, CallListener calls) {
    this.context = context;
    this.log = log;
    this.settings = settings;
    this.calls = calls;
  }

  /** Returns true if the gateway makes tasks of calls. */
  boolean areMade() {
    return settings.taskAfter().isPresent();
  }

  /** Notes a new task. */
  void made(StreamRef call) {
    calls.becameTask(call);
    context.listener().task(EraListener.Task.MADE);
  }

  /** Time after which a request becomes a task; empty for never. */
  Optional<Duration> after(StatelessRequest request) {
    return settings
        .taskAfter()
        .filter(_ -> request.method().equals(Methods.TOOLS_CALL) && declares(request));
  }

  private static boolean declares(StatelessRequest request) {
    return new ClientCapabilities(request.capabilities()).hasTasks();
  }

  /** The response to a call that has become a task. */
  byte[] response(RequestId request, StatelessCall call, String stream, Position from) {
    TaskHandle task =
        new TaskHandle(call.session(), stream, call.id(), from, context.clock().instant());
    String id = task.seal(context.seal(), call.caller(), call.upstream());
    JsonEdit response = new JsonEdit().set("\"task\"", "result", "resultType");
    TaskState.begun().addTo(response, "result", id, task, settings.kept(), task.created());
    return response.apply(JsonRpcMessages.result(request, "{}"));
  }

  /**
   * Answers a request about a task.
   *
   * @return null if the gateway has not made the task
   */
  @Nullable Reply answer(Exchange exchange, StatelessRequest request) {
    if (areMade() && !declares(request)) {
      throw StatelessException.missingCapability(
          new JsonEdit().set("{}", "extensions", ClientCapabilities.TASKS).toJson());
    }
    TaskHandle task = open(exchange, request.name());
    if (task == null) {
      return null;
    }
    StatelessCall call = call(exchange, task);
    TaskState state = read(call, task).orElseThrow(() -> unknown());
    JsonEdit result = new JsonEdit().set("\"complete\"", "result", "resultType");
    switch (request.method()) {
      case Methods.TASKS_UPDATE -> update(call, request, task, state);
      case Methods.TASKS_CANCEL -> {
        if (state.isRunning()) {
          context.listener().task(EraListener.Task.CANCELLED);
          send(call, JsonRpcMessages.cancelled(task.call()));
        }
      }
      default -> {
        String id = String.valueOf(request.name());
        addTo(result, "result", id, task, state);
      }
    }
    RequestId id = request.message().id();
    return new Reply.Json(result.apply(JsonRpcMessages.result(id, "{}")), 200);
  }

  void addTo(JsonEdit edit, String path, String id, TaskHandle task, TaskState state) {
    state.addTo(edit, path, id, task, settings.kept(), context.clock().instant());
    state.addDetailsTo(edit, path);
    if (!state.isRunning()) {
      calls.collected(task.ref());
    }
  }

  static StatelessException unknown() {
    return StatelessException.invalidParams(200, UNKNOWN);
  }

  /** Opens the id of a task; null if the gateway has not made it for that caller. */
  @Nullable TaskHandle open(Exchange exchange, @Nullable String id) {
    return TaskHandle.open(context.seal(), id, exchange.caller(), exchange.upstream()).orElse(null);
  }

  /** The call of a task, which goes on in its session. */
  StatelessCall call(Exchange exchange, TaskHandle task) {
    return StatelessCall.of(context, exchange, task.session(), false, task.call());
  }

  /** Gives the server the answers of the client. Each question is answered once. */
  private void update(
      StatelessCall call, StatelessRequest request, TaskHandle task, TaskState state) {
    state
        .asked()
        .forEach((id, position) -> {
          String answer = JsonEdit.raw(request.inputResponses(), id.key());
          if (answer != null) {
            once(task, position, () -> send(call, JsonRpcMessages.result(id, answer)));
          }
        });
  }

  private static void send(StatelessCall call, byte[] message) {
    Reply _ = call.send(message);
  }

  private void once(TaskHandle task, Position question, Runnable answer) {
    String name = answered(task, question);
    if (!context.seal().store().use(name)) {
      return;
    }
    try {
      answer.run();
    } catch (RuntimeException notGiven) {
      context.seal().store().release(name);
      throw notGiven;
    }
  }

  private static String answered(TaskHandle task, Position question) {
    return "task/" + task.ref() + "/" + question;
  }

  /** Reads the state of a task; empty if the log does not have it any more. */
  Optional<TaskState> read(StatelessCall call, TaskHandle task) {
    try {
      // The session is in use.
      var session = new Conversation.Streamable(task.session());
      context.relay().enter(call.upstream(), session, call.caller());
    } catch (RelayException.SessionNotFound ended) {
      return Optional.empty();
    }
    StreamRef stream = task.ref();
    Position cursor = settled.getOrDefault(stream, task.from());
    ServerRequests asked = new ServerRequests();
    Instant updated = null;
    while (true) {
      switch (log.read(stream, cursor, PAGE)) {
        case ReadResult.Events(List<LogEvent> events) when events.isEmpty() -> {
          return Optional.of(running(stream, cursor, updated, asked));
        }
        case ReadResult.Events(List<LogEvent> events) -> {
          for (LogEvent event : events) {
            updated = Instant.ofEpochMilli(event.position().millis());
            if (event.last()) {
              return Optional.of(new TaskState(updated, asked, event.payload()));
            }
            note(asked, cursor, event, call, task);
            cursor = event.position();
          }
        }
        case ReadResult.Gap gap -> {
          Position next = log.beforeRest(stream, gap).orElse(null);
          if (next == null) {
            return Optional.empty();
          }
          if (next.equals(cursor)) {
            return Optional.of(running(stream, cursor, updated, asked));
          }
          cursor = next; // An earlier one if the store has lost events.
        }
        case ReadResult.EndOfStream _, ReadResult.NoSuchStream _ -> {
          return Optional.empty();
        }
      }
    }
  }

  private TaskState running(
      StreamRef stream, Position cursor, @Nullable Instant updated, ServerRequests asked) {
    settled.put(stream, Objects.requireNonNullElse(asked.from(), cursor));
    return new TaskState(updated, asked, null);
  }

  /** Notes what a running call asks, and answers what its client is not asked. */
  private void note(
      ServerRequests asked,
      Position previous,
      LogEvent event,
      StatelessCall call,
      TaskHandle task) {
    if (!(Envelopes.read(event.payload()) instanceof Body.Single(Message message))) {
      return;
    }
    Position position = event.position();
    switch (message) {
      case Message.Request _
          when asked.isFull() || context.seal().store().isUsed(answered(task, position)) -> {}
      case Message.Request question when ClientCapabilities.REQUESTS.contains(question.method()) ->
          asked.add(question, previous, position);
      case Message.Request ping when ping.method().equals(Methods.PING) ->
          once(task, position, () -> call.sendLater(JsonRpcMessages.result(ping.id(), "{}")));
      case Message.Request other ->
          once(
              task,
              position,
              () -> call.refuse(other.id(), "The client cannot be asked for " + other.method()));
      case Message.Notification notification when notification.cancelledRequestId() != null ->
          asked.remove(notification.cancelledRequestId());
      default -> {}
    }
  }
}
