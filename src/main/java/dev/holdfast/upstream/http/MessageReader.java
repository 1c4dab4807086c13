package dev.holdfast.upstream.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.protocol.Utf8;
import dev.holdfast.sse.SseEvent;
import dev.holdfast.sse.SseHandler;
import dev.holdfast.sse.SseLimitException;
import dev.holdfast.sse.SseParser;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Parses the bytes of a stream into messages, over all its connections. For one thread. */
final class MessageReader implements SseHandler {

  /** Delay for servers that ask for none; the WHATWG standard suggests "a few seconds". */
  private static final Duration DEFAULT_RETRY = Duration.ofSeconds(1);

  /** The event type with which an HTTP+SSE server names its endpoint for messages. */
  private static final String ENDPOINT = "endpoint";

  /** Bytes of a line in addition to the data: name, colon, space. */
  private static final int FIELD_BYTES = 16;

  private final SseParser parser;
  private final Consumer<String> endpointListener;
  private final ByteBudget.Claim held;
  private Consumer<String> idListener = id -> {};
  private String lastId;
  private List<UpstreamMessage> messages = new ArrayList<>();
  private @Nullable UpstreamException failure;
  private boolean eventful;
  private @Nullable String idAlone;

  /**
   * {@code cursor} is the id after which the stream resumes; empty for its beginning. {@code
   * endpointListener} gets the data of each {@code endpoint} event.
   */
  MessageReader(
      int maxMessageBytes,
      String cursor,
      Consumer<String> endpointListener,
      ByteBudget.Claim held) {
    parser = new SseParser(maxMessageBytes + FIELD_BYTES, maxMessageBytes);
    parser.resume(cursor);
    lastId = cursor;
    this.endpointListener = endpointListener;
    this.held = held;
  }

  void onIdWithoutMessage(Consumer<String> listener) {
    idListener = listener;
  }

  /**
   * Parses the next bytes into messages. If one is too large, throws only after an earlier call has
   * returned the messages before it.
   */
  List<UpstreamMessage> read(List<byte[]> chunks) {
    eventful = false;
    idAlone = null;
    try {
      for (byte[] chunk : chunks) {
        parser.feed(chunk, 0, chunk.length, this);
        if (!held.set(parser.heldBytes())) {
          failure = new UpstreamException.Broken("too many large messages at a time", null);
          break;
        }
      }
    } catch (SseLimitException e) {
      failure = new UpstreamException.Broken("a message is too large", e);
    }
    List<UpstreamMessage> read = messages;
    messages = new ArrayList<>();
    if (read.isEmpty()) {
      // With a message, the id of the message is the cursor.
      if (idAlone != null) {
        idListener.accept(idAlone);
      }
      throwFailure();
    }
    return read;
  }

  /** Number of bytes of messages that are not complete. */
  long heldBytes() {
    return parser.heldBytes();
  }

  /** Whether {@link #throwFailure} would throw. */
  boolean hasFailed() {
    return failure != null;
  }

  /** Throws the failure that {@link #read} kept to return the messages before it. */
  void throwFailure() {
    if (failure != null) {
      throw failure;
    }
  }

  /** Whether the last {@link #read} saw an event or a comment: the server is at work. */
  boolean eventful() {
    return eventful;
  }

  void connectionEnded() {
    parser.end();
  }

  /** Id of the last complete event with an id; empty if there is none, or no header can hold it. */
  String cursor() {
    String id = parser.lastEventId();
    return HeaderValues.isSendable(id) ? id : "";
  }

  void forgetCursor() {
    parser.resume("");
    lastId = "";
  }

  /** The delay before a new connection that the server asks for. */
  Duration retry() {
    return parser.retry().orElse(DEFAULT_RETRY);
  }

  @Override
  public void event(SseEvent event) {
    eventful = true;
    String id = event.lastEventId();
    // Ids are unique in a session, so an unchanged id belongs to an earlier event.
    boolean own = !id.isEmpty() && !id.equals(lastId);
    lastId = id;
    // An event without data only moves the cursor. MCP uses no type but "message".
    if (event.data().length > 0 && event.type().equals(SseEvent.DEFAULT_TYPE)) {
      byte[] payload = Utf8.singleLine(event.data());
      messages.add(new UpstreamMessage(payload, own ? id : null));
    } else if (own && HeaderValues.isSendable(id)) {
      idAlone = id;
    }
    if (event.type().equals(ENDPOINT)) {
      endpointListener.accept(new String(event.data(), UTF_8));
    }
  }

  @Override
  public void comment() {
    eventful = true;
  }
}
