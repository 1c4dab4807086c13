package dev.holdfast.record;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.lock.AutoLock;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.record.ReplaySource.Action;
import dev.holdfast.record.TapeScript.Step.Exchange;
import dev.holdfast.record.TapeScript.Timed;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import org.jspecify.annotations.Nullable;

/** One client's session with a {@link ReplayUpstream}. Thread-safe. */
final class ReplaySession {

  private final TapeScript script;
  private final ReplayPace pace;
  private final AutoLock lock = new AutoLock();
  private final Condition changed = lock.newCondition();

  // Guarded by the lock.
  private final Map<RequestKey, Integer> played = new HashMap<>();
  private final Set<RequestId> answered = new HashSet<>();
  private int requests;

  ReplaySession(TapeScript script, ReplayPace pace) {
    this.script = script;
    this.pace = pace;
  }

  /**
   * An answer to a request.
   *
   * @param json whether it is only a response, for which the client waits
   */
  record Playing(ReplaySource source, boolean json) {}

  /** Answers a request as on the tape, or with an error. */
  Playing play(Message.Request request) {
    RequestKey key = RequestKey.of(request);
    List<Exchange> recorded = script.exchanges(key);
    boolean call = request.method().equals(Methods.TOOLS_CALL);
    try (var _ = lock.hold()) {
      requests++;
      changed.signalAll();
      if (recorded.isEmpty()) {
        return new Playing(source(List.of(new Action.Send(unrecorded(request)))), !call);
      }
      int index = Math.min(played.merge(key, 1, Integer::sum), recorded.size()) - 1;
      Exchange exchange = recorded.get(index);
      boolean json = !call && exchange.isAnswered() && exchange.messages().size() == 1;
      return new Playing(source(actions(exchange, request)), json);
    }
  }

  private static byte[] unrecorded(Message.Request request) {
    if (request.method().equals(Methods.PING)) {
      return ("{\"jsonrpc\":\"2.0\",\"id\":" + request.id().json() + ",\"result\":{}}")
          .getBytes(UTF_8);
    }
    String tool = request.toolName();
    return error(
        request,
        "The tape has no %s%s with these params"
            .formatted(request.method(), tool == null ? "" : " of " + tool));
  }

  private static byte[] error(Message.Request request, String text) {
    return JsonRpcErrors.error(request.id(), JsonRpcErrorCode.SERVER_ERROR, text);
  }

  private List<Action> actions(Exchange exchange, Message.Request request) {
    StreamActions stream = new StreamActions(exchange.time());
    for (Timed sent : exchange.messages()) {
      byte[] message = adapted(sent.message(), exchange.request(), request);
      if (message != null) {
        stream.add(sent, message);
      }
    }
    if (!exchange.isAnswered()) {
      stream.actions.add(
          script.isCancelled(exchange.request().id())
              ? Action.STAY_OPEN
              : new Action.Send(error(request, "The tape has no response to this request")));
    }
    return stream.actions;
  }

  /** Puts the request's id and progress token into a message; null if it asked for no progress. */
  private static byte @Nullable [] adapted(
      Message message, Message.Request recorded, Message.Request request) {
    return switch (message) {
      case Message.Response response ->
          TapeJson.replace(response.bytes(), request.id().json(), "id");
      case Message.Notification(_, _, String token, byte[] bytes)
          when token.equals(recorded.progressToken()) -> {
        String wanted = request.progressToken();
        yield wanted == null ? null : TapeJson.replace(bytes, wanted, "params", "progressToken");
      }
      case Message.Notification notification -> notification.bytes();
      case Message.Request question -> question.bytes();
    };
  }

  /** Plays messages that belong to no request. Each waits for the request that came before it. */
  ReplaySource listen() {
    StreamActions stream = new StreamActions(Instant.EPOCH);
    for (Timed sent : script.standalone()) {
      stream.awaitRequest(sent);
      stream.add(sent, sent.message().bytes());
    }
    stream.actions.add(Action.STAY_OPEN);
    return source(stream.actions);
  }

  private ReplaySource source(List<Action> actions) {
    return new ReplaySource(lock, changed, actions);
  }

  /** Accepts a message that needs no response. */
  void accept(Message message) {
    if (message instanceof Message.Response response && response.id() != null) {
      try (var _ = lock.hold()) {
        answered.add(response.id());
        changed.signalAll();
      }
    }
  }

  /** The actions of one stream. */
  private final class StreamActions {
    final List<Action> actions = new ArrayList<>();
    private final List<RequestId> questions = new ArrayList<>();

    /** The recorded time of the latest action. */
    private Instant time;

    StreamActions(Instant time) {
      this.time = time;
    }

    void awaitRequest(Timed sent) {
      int number = sent.after();
      actions.add(new Action.Await(() -> requests >= number));
      moveTo(sent.afterTime());
    }

    void add(Timed sent, byte[] message) {
      awaitAnswers(sent.time());
      if (pace.waits() && sent.time().isAfter(time)) {
        double nanos = Duration.between(time, sent.time()).toNanos() / pace.speed();
        actions.add(new Action.Pause(Duration.ofNanos((long) nanos)));
      }
      moveTo(sent.time());
      if (sent.message() instanceof Message.Request question) {
        questions.add(question.id());
        // The stream may have been played before.
        actions.add(new Action.Send(message, () -> answered.remove(question.id())));
      } else {
        actions.add(new Action.Send(message));
      }
    }

    /** Waits for the answers that the client had given before a time. */
    private void awaitAnswers(Instant before) {
      for (Iterator<RequestId> ids = questions.iterator(); ids.hasNext(); ) {
        RequestId id = ids.next();
        Instant answer = script.answerTime(id);
        if (answer != null && !answer.isAfter(before)) {
          actions.add(new Action.Await(() -> answered.contains(id)));
          moveTo(answer);
          ids.remove();
        }
      }
    }

    private void moveTo(Instant later) {
      time = later.isAfter(time) ? later : time;
    }
  }
}
