package dev.holdfast.held;

import dev.holdfast.log.Position;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.JsonRpcMessages;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.tail.Translation;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The messages of a call for a client that waits only for some time. Then the response ends with a
 * handle.
 */
final class HeldResult implements Translation {

  private static final byte[] NOTHING = {};

  private final Translation inner;
  private final RequestId id;
  private final @Nullable String progressToken;
  private final Duration most;

  /** True if the request is not that of the call, but one that collects its result. */
  private final boolean collects;

  /** Returns the last message if the call still runs at the end of the time. */
  private final Supplier<byte[]> handle;

  private final HeldListener listener;

  private final long since = System.nanoTime();
  private boolean answered;
  private boolean held;

  HeldResult(
      Translation inner,
      Message.Request request,
      Duration most,
      boolean collects,
      Supplier<byte[]> handle,
      HeldListener listener) {
    this.inner = inner;
    this.id = request.id();
    this.progressToken = request.progressToken();
    this.most = most;
    this.collects = collects;
    this.handle = handle;
    this.listener = listener;
  }

  @Override
  public List<byte[]> begin() {
    return inner.begin();
  }

  @Override
  public void requests(List<RequestId> open) {
    inner.requests(open);
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
        if (collects) {
          listener.held(HeldListener.Event.COLLECTED);
          yield new JsonEdit().set(id.json(), "id").apply(response.bytes());
        }
        yield translated;
      }
      case Message.Notification notification when collects -> progress(notification);
      // The client that called is asked, if it is still there.
      case Message.Request _ when collects -> NOTHING;
      default -> translated;
    };
  }

  private byte[] progress(Message.Notification notification) {
    return progressToken == null || !notification.method().equals(Methods.NOTIFICATIONS_PROGRESS)
        ? NOTHING
        : new JsonEdit().set(progressToken, "params", "progressToken").apply(notification.bytes());
  }

  @Override
  public @Nullable Duration untilPause() {
    Duration asks = collects ? null : inner.untilPause();
    if (answered) {
      return asks;
    }
    Duration left = most.minusNanos(System.nanoTime() - since);
    return asks == null || left.compareTo(asks) < 0 ? left : asks;
  }

  @Override
  public boolean canPause() {
    return collects ? !answered : inner.canPause();
  }

  @Override
  public byte[] pause(Position cursor) {
    Duration asks = inner.untilPause();
    if (!collects && asks != null && !asks.isPositive()) {
      return inner.pause(cursor);
    }
    held = true;
    listener.held(collects ? HeldListener.Event.WAITED : HeldListener.Event.HELD);
    return handle.get();
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

  /** A result of a tool that is a text. */
  static byte[] text(RequestId id, String text, boolean isError, boolean isStateless) {
    JsonEdit content = new JsonEdit().set("\"text\"", "type").set(JsonEdit.quote(text), "text");
    JsonEdit result =
        new JsonEdit()
            .set("[" + content.toJson() + "]", "content")
            .set(Boolean.toString(isError), "isError");
    if (isStateless) {
      result.set("\"complete\"", "resultType");
    }
    return JsonRpcMessages.result(id, result.toJson());
  }
}
