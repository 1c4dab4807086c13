package dev.holdfast.record;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.lock.AutoLock;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.record.TapeScript.RequestKey;
import dev.holdfast.record.TapeScript.Step.Exchange;
import dev.holdfast.record.TapeScript.Timed;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** One client's session with a {@link ReplayUpstream}. Thread-safe. */
final class ReplaySession implements UpstreamSession {

  private final TapeScript script;
  private final double speed;
  private final Runnable onEnd;
  private volatile boolean ended;
  private final AutoLock lock = new AutoLock();
  private final Condition changed = lock.newCondition();

  // Guarded by the lock.
  private final Map<RequestKey, Integer> played = new HashMap<>();
  private final Set<RequestId> answered = new HashSet<>();
  private int requests;

  ReplaySession(TapeScript script, double speed, Runnable onEnd) {
    this.script = script;
    this.speed = speed;
    this.onEnd = onEnd;
  }

  /**
   * A message of a stream, and what it waits for.
   *
   * @param after the client's requests that come before it
   * @param from recorded time from which its delay counts
   * @param question id of the server's request; null for any other message
   */
  private record Line(
      int after, Instant from, Instant time, @Nullable RequestId question, byte[] message) {

    /** Keeps the stream open without a message. */
    static final Line STAY_OPEN =
        new Line(Integer.MAX_VALUE, Instant.MIN, Instant.MIN, null, new byte[0]);

    static Line of(int after, Instant from, Timed sent, byte[] message) {
      RequestId question = sent.message() instanceof Message.Request asked ? asked.id() : null;
      return new Line(after, from, sent.time(), question, message);
    }

    static Line atOnce(byte[] message) {
      return new Line(0, Instant.MIN, Instant.MIN, null, message);
    }
  }

  /**
   * The answer to a request.
   *
   * @param json whether it is only a response, for which the client waits
   */
  private record Reply(List<Line> lines, boolean json) {}

  /** Answers requests as on the tape, or with an error. Those of a batch one after the other. */
  @Override
  public Answer request(Body body) {
    requireOpen();
    List<Line> lines = new ArrayList<>();
    boolean json = body instanceof Body.Single;
    for (Message message : body.messages()) {
      if (message instanceof Message.Request request) {
        Reply reply = reply(request);
        lines.addAll(reply.lines());
        json &= reply.json();
      } else {
        accept(message);
      }
    }
    MessageSource source = new Playback(lines);
    return json ? new Answer.Json(source.take().getFirst()) : new Answer.Stream(source);
  }

  private void requireOpen() {
    if (ended) {
      throw new UpstreamException.SessionGone();
    }
  }

  private Reply reply(Message.Request request) {
    RequestKey key = RequestKey.of(request);
    List<Exchange> recorded = script.exchanges(key);
    boolean call = request.method().equals(Methods.TOOLS_CALL);
    try (var _ = lock.hold()) {
      requests++;
      changed.signalAll();
      if (recorded.isEmpty()) {
        return new Reply(List.of(Line.atOnce(unrecorded(request))), !call);
      }
      int index = Math.min(played.merge(key, 1, Integer::sum), recorded.size()) - 1;
      Exchange exchange = recorded.get(index);
      boolean json = !call && exchange.isAnswered() && exchange.messages().size() == 1;
      return new Reply(lines(exchange, request), json);
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

  private List<Line> lines(Exchange exchange, Message.Request request) {
    List<Line> lines = new ArrayList<>();
    for (Timed sent : exchange.messages()) {
      byte[] message = adapted(sent.message(), exchange.request(), request);
      if (message != null) {
        lines.add(Line.of(0, exchange.time(), sent, message));
      }
    }
    if (!exchange.isAnswered()) {
      lines.add(
          script.isCancelled(exchange.request().id())
              ? Line.STAY_OPEN
              : Line.atOnce(error(request, "The tape has no response to this request")));
    }
    return lines;
  }

  /** Puts the request's id and progress token into a message; null if it asked for no progress. */
  private static byte @Nullable [] adapted(
      Message message, Message.Request recorded, Message.Request request) {
    return switch (message) {
      case Message.Response response ->
          new JsonEdit().set(request.id().json(), "id").apply(response.bytes());
      case Message.Notification(_, _, String token, _, byte[] bytes)
          when token.equals(recorded.progressToken()) -> {
        String wanted = request.progressToken();
        yield wanted == null
            ? null
            : new JsonEdit().set(wanted, "params", "progressToken").apply(bytes);
      }
      case Message.Notification notification -> notification.bytes();
      case Message.Request question -> question.bytes();
    };
  }

  @Override
  public void send(Body body) {
    requireOpen();
    body.messages().forEach(this::accept);
  }

  /** Accepts a message that needs no response. */
  private void accept(Message message) {
    if (message instanceof Message.Response response && response.id() != null) {
      try (var _ = lock.hold()) {
        answered.add(response.id());
        changed.signalAll();
      }
    }
  }

  /** Plays messages that belong to no request. Each waits for the request that came before it. */
  @Override
  public Optional<MessageSource> listen(@Nullable String after) {
    requireOpen();
    List<Line> lines = new ArrayList<>();
    for (Timed sent : script.standalone()) {
      lines.add(Line.of(sent.after(), sent.afterTime(), sent, sent.message().bytes()));
    }
    lines.add(Line.STAY_OPEN);
    return Optional.of(new Playback(lines));
  }

  @Override
  public void end() {
    ended = true;
    onEnd.run();
  }

  /** A stream that plays while it is read. */
  private final class Playback implements MessageSource {

    // Guarded by the lock of the session.
    private final Queue<Line> lines;
    private final List<RequestId> questions = new ArrayList<>();
    private Instant time = Instant.MIN;
    private boolean closed;

    Playback(List<Line> lines) {
      this.lines = new ArrayDeque<>(lines);
    }

    @Override
    public List<UpstreamMessage> take() {
      try (var _ = lock.hold()) {
        Line line = lines.poll();
        if (line == null || closed) {
          return List.of();
        }
        await(() -> requests >= line.after());
        moveTo(line.from());
        awaitAnswers(line.time());
        pauseUntil(line.time());
        if (line.question() != null) {
          questions.add(line.question());
          answered.remove(line.question()); // The stream may have been played before.
        }
        return closed ? List.of() : List.of(new UpstreamMessage(line.message(), null));
      } catch (InterruptedException e) {
        throw UpstreamException.Broken.interrupted(e);
      }
    }

    private void await(BooleanSupplier condition) throws InterruptedException {
      while (!closed && !condition.getAsBoolean()) {
        changed.await();
      }
    }

    /** Waits for the answers that the client had given before a time. */
    private void awaitAnswers(Instant before) throws InterruptedException {
      for (Iterator<RequestId> ids = questions.iterator(); ids.hasNext(); ) {
        RequestId id = ids.next();
        Instant answer = script.answerTime(id);
        if (answer != null && !answer.isAfter(before)) {
          await(() -> answered.contains(id));
          moveTo(answer);
          ids.remove();
        }
      }
    }

    private void pauseUntil(Instant next) throws InterruptedException {
      if (next.isAfter(time)) {
        long left = (long) (Duration.between(time, next).toNanos() / speed);
        while (!closed && left > 0) {
          left = changed.awaitNanos(left);
        }
        time = next;
      }
    }

    private void moveTo(Instant later) {
      time = later.isAfter(time) ? later : time;
    }

    @Override
    public void close() {
      try (var _ = lock.hold()) {
        closed = true;
        changed.signalAll();
      }
    }
  }
}
