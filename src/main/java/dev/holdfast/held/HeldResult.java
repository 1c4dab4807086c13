package dev.holdfast.held;

import dev.holdfast.log.Position;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.JsonRpcMessages;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.tail.EarlyAnswer;
import dev.holdfast.relay.tail.ForwardingTranslation;
import dev.holdfast.relay.tail.Translation;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The messages of a call for a client that waits only for some time. Then the response ends with a
 * handle.
 */
final class HeldResult extends ForwardingTranslation {

  private static final byte[] NOTHING = {};

  private final RequestId id;
  private final @Nullable String progressToken;

  /** True if the request is not that of the call, but one that collects its result. */
  private final boolean collects;

  private final Texts texts;

  private final HeldListener listener;

  /** Says that the call still runs. */
  private final EarlyAnswer early;

  private boolean answered;
  private boolean held;

  /** True if the server has asked the client that called. */
  private boolean asked;

  /** Makes answers of the gateway. */
  interface Texts {
    /**
     * Says that the call still runs.
     *
     * @param asked true if the server has asked the client that called
     */
    byte[] running(boolean asked);

    /** Says that the call has no result that this client can get. */
    byte[] none();
  }

  HeldResult(
      Translation inner,
      Message.Request request,
      Duration most,
      boolean collects,
      Texts texts,
      HeldListener listener) {
    super(inner);
    this.id = request.id();
    this.progressToken = request.progressToken();
    this.early = new EarlyAnswer(most);
    this.collects = collects;
    this.texts = texts;
    this.listener = listener;
  }

  @Override
  public byte[] translate(Position position, byte[] original) {
    byte[] translated = inner.translate(position, original);
    if (translated.length == 0
        || !(Envelopes.read(translated) instanceof Body.Single(Message message))) {
      return translated;
    }
    return switch (message) {
      case Message.Response response -> {
        answered = true;
        yield collects ? collected(response) : translated;
      }
      case Message.Notification notification when collects -> progress(notification);
      case Message.Request _ when collects -> {
        // The client that called is asked, if it is still there.
        asked = true;
        yield NOTHING;
      }
      default -> translated;
    };
  }

  private byte[] progress(Message.Notification notification) {
    return progressToken == null || !notification.method().equals(Methods.NOTIFICATIONS_PROGRESS)
        ? NOTHING
        : new JsonEdit().set(progressToken, "params", "progressToken").apply(notification.bytes());
  }

  private byte[] collected(Message.Response response) {
    if ("\"input_required\"".equals(JsonEdit.raw(response.bytes(), "result", "resultType"))) {
      listener.held(HeldListener.Event.NOT_FOUND);
      return texts.none();
    }
    listener.held(HeldListener.Event.COLLECTED);
    return new JsonEdit().set(id.json(), "id").apply(response.bytes());
  }

  @Override
  public @Nullable Duration untilPause() {
    Duration asks = collects ? null : inner.untilPause();
    return answered || asks != null ? asks : early.left(this::running);
  }

  private byte[] running() {
    return texts.running(asked);
  }

  @Override
  public boolean canPause() {
    return collects ? !answered : inner.canPause();
  }

  @Override
  public byte[] pause(Position cursor) {
    boolean isOver = early.isDue() && inner.untilPause() == null;
    if (!collects && !isOver) {
      return inner.pause(cursor);
    }
    byte[] answer = early.take(this::running);
    held = true;
    listener.held(collects ? HeldListener.Event.WAITED : HeldListener.Event.HELD);
    return answer;
  }

  @Override
  public List<byte[]> atEnd() {
    boolean without = collects && !answered;
    answered = answered || without;
    return without ? List.of(texts.none()) : inner.atEnd();
  }

  @Override
  public boolean pausesForNewerTail() {
    return collects && !answered;
  }

  @Override
  public void closed(boolean left) {
    // The call goes on without its client.
    inner.closed(left && !held && !collects);
  }

  /** An error of a tool: clients may require another form of a result that is none. */
  static byte[] text(RequestId id, String text, boolean isStateless) {
    JsonEdit content = new JsonEdit().set("\"text\"", "type").set(JsonEdit.quote(text), "text");
    JsonEdit result =
        new JsonEdit().set("[" + content.toJson() + "]", "content").set("true", "isError");
    if (isStateless) {
      result.set("\"complete\"", "resultType");
    }
    return JsonRpcMessages.result(id, result.toJson());
  }
}
