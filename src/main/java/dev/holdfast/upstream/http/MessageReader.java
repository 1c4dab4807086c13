package dev.holdfast.upstream.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.protocol.EnvelopeScanner;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.protocol.Utf8;
import dev.holdfast.sse.SseEvent;
import dev.holdfast.sse.SseHandler;
import dev.holdfast.sse.SseLimitException;
import dev.holdfast.sse.SseParser;
import dev.holdfast.upstream.OversizedMessage;
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
  private final int maxMessageBytes;
  private final StreamKind kind;
  private final Consumer<OversizedMessage> dropListener;
  private final Consumer<String> endpointListener;
  private final ByteBudget.Claim held;
  private Consumer<String> idListener = id -> {};
  private String lastId;
  private List<UpstreamMessage> messages = new ArrayList<>();
  private @Nullable UpstreamException failure;
  private boolean eventful;
  private @Nullable String idAlone;
  private @Nullable String firstId;

  /** Facts about the event that is skipped; null if none is. */
  private @Nullable EnvelopeScanner scan;

  /**
   * {@code cursor} is the id after which the stream resumes; empty for its beginning. {@code
   * endpointListener} gets the data of each {@code endpoint} event, and {@code dropListener} each
   * message that is too large and answers no request.
   */
  MessageReader(
      StreamKind kind,
      int maxMessageBytes,
      String cursor,
      Consumer<String> endpointListener,
      Consumer<OversizedMessage> dropListener,
      ByteBudget.Claim held) {
    this.kind = kind;
    this.maxMessageBytes = maxMessageBytes;
    this.dropListener = dropListener;
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
    long most =
        parser.heldBytes(); // The reader of the messages holds their bytes until it wants more.
    try {
      for (byte[] chunk : chunks) {
        parser.feed(chunk, 0, chunk.length, this);
        most = Math.max(most, parser.heldBytes());
        if (!held.set(most)) {
          parser.skip(this);
          most = parser.heldBytes();
        }
        if (!held.set(most)) {
          failure = new UpstreamException.Broken("too many large messages at a time", null);
          break;
        }
      }
    } catch (SseLimitException e) {
      failure = new UpstreamException.Broken("a message is too large", e);
    } catch (UpstreamException.Broken endless) {
      failure = endless;
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

  /** Gives back the bytes of messages that were read. */
  void forgetRead() {
    boolean _ = held.set(parser.heldBytes());
  }

  /** Number of bytes of messages that are not complete. */
  long heldBytes() {
    return parser.heldBytes();
  }

  /** Returns true if {@link #throwFailure} would throw. */
  boolean hasFailed() {
    return failure != null;
  }

  /** Throws the failure that {@link #read} kept to return the messages before it. */
  void throwFailure() {
    if (failure != null) {
      throw failure;
    }
  }

  /** Returns true if the last {@link #read} saw an event or a comment: the server is at work. */
  boolean eventful() {
    return eventful;
  }

  void connectionEnded() {
    scan = null;
    parser.end();
  }

  /** Id of the last complete event with an id; empty if there is none, or no header can hold it. */
  String cursor() {
    String id = parser.lastEventId();
    return kind.isResumable() && HeaderValues.isSendable(id) ? id : "";
  }

  /** Id of the first event with an id; null before. */
  @Nullable String firstId() {
    return firstId;
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
    boolean own = kind.isResumable() && !id.isEmpty() && !id.equals(lastId);
    lastId = id;
    firstId = own && firstId == null ? id : firstId;
    if (scan != null) {
      skipped(new OversizedMessage(scan, maxMessageBytes), own ? id : null);
      scan = null;
      return;
    }
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

  private void skipped(OversizedMessage message, @Nullable String eventId) {
    RequestId request = message.scan().id();
    if (kind == StreamKind.STANDALONE || !message.mayBeResponse()) {
      dropListener.accept(message);
      idAlone = eventId != null && HeaderValues.isSendable(eventId) ? eventId : idAlone;
    } else if (kind.endsWithResponse() || request == null) {
      failure = message.failure();
    } else {
      messages.add(UpstreamMessage.tooLarge(request, message.failure(), eventId));
    }
  }

  @Override
  public boolean skips() {
    return true;
  }

  /** Breaks the stream if the event is no message, or has no end. */
  @Override
  public void skipped(byte[] bytes, int from, int to) {
    scan = scan == null ? new EnvelopeScanner() : scan;
    scan.write(bytes, from, to - from);
    if (!scan.mayBeMessage() || scan.bytes() > OversizedMessage.ENDLESS * maxMessageBytes) {
      throw new UpstreamException.Broken("a message is too large", null);
    }
  }

  @Override
  public void comment() {
    eventful = true;
  }
}
