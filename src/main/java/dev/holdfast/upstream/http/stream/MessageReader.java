package dev.holdfast.upstream.http.stream;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.protocol.JsonLines;
import dev.holdfast.sse.SseEvent;
import dev.holdfast.sse.SseHandler;
import dev.holdfast.sse.SseLimitException;
import dev.holdfast.sse.SseParser;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.http.client.HeaderValues;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Makes messages of the bytes of a stream, over all its connections. For one thread. */
final class MessageReader implements SseHandler {

  /** What a server wants that says nothing; the WHATWG leave it to the client, "a few seconds". */
  private static final Duration DEFAULT_RETRY = Duration.ofSeconds(1);

  /** The type of the event in which a server of HTTP+SSE says where to post. */
  private static final String ENDPOINT = "endpoint";

  /** What a line has besides the data: name, colon, space. */
  private static final int FIELD_BYTES = 16;

  private final SseParser parser;
  private String lastId;
  private List<UpstreamMessage> messages = new ArrayList<>();
  private @Nullable SseLimitException failure;
  private boolean eventful;
  private @Nullable String idAlone;
  private Consumer<String> moved = id -> {};
  private Consumer<String> endpoints = endpoint -> {};

  /**
   * @param maxMessageBytes the size of the largest message
   * @param cursor the id of the event after which the stream goes on; empty for its beginning
   */
  MessageReader(int maxMessageBytes, String cursor) {
    parser = new SseParser(maxMessageBytes + FIELD_BYTES, maxMessageBytes);
    parser.resume(cursor);
    lastId = cursor;
  }

  /** Has a listener told of ids that come without a message. */
  void whenMoved(Consumer<String> listener) {
    moved = listener;
  }

  /** Has a listener told, while it reads, where a server of HTTP+SSE wants messages. */
  void whenEndpoint(Consumer<String> listener) {
    endpoints = listener;
  }

  /**
   * Reads on.
   *
   * @return the messages that were completed; maybe none
   * @throws SseLimitException if a message is too large; those before it were returned by an
   *     earlier call
   */
  List<UpstreamMessage> read(List<byte[]> chunks) {
    eventful = false;
    idAlone = null;
    try {
      for (byte[] chunk : chunks) {
        parser.feed(chunk, 0, chunk.length, this);
      }
    } catch (SseLimitException e) {
      failure = e;
    }
    List<UpstreamMessage> read = messages;
    messages = new ArrayList<>();
    if (read.isEmpty() && idAlone != null) {
      // Beside a message there is no need to tell: the message's own id will do.
      moved.accept(idAlone);
    }
    if (read.isEmpty()) {
      throwFailure();
    }
    return read;
  }

  /**
   * Throws what {@link #read} had to keep back for the messages before it.
   *
   * @throws SseLimitException if a message was too large
   */
  void throwFailure() {
    if (failure != null) {
      throw failure;
    }
  }

  /** Whether the last {@link #read} saw an event or a comment, that is, a server at work. */
  boolean eventful() {
    return eventful;
  }

  /** Forgets the event that was under way; its id was not taken over. */
  void connectionEnded() {
    parser.end();
  }

  /**
   * The id of the last complete event that had one; empty when none had, or one that cannot be sent
   * back.
   */
  String cursor() {
    String id = parser.lastEventId();
    return HeaderValues.isSendable(id) ? id : "";
  }

  /** Starts over without a cursor, since the server does not know it any more. */
  void forgetCursor() {
    parser.resume("");
    lastId = "";
  }

  /** How long the server wants us to wait before we connect again. */
  Duration retry() {
    return parser.retry().orElse(DEFAULT_RETRY);
  }

  @Override
  public void event(SseEvent event) {
    eventful = true;
    String id = event.lastEventId();
    // Ids are unique in a session, so an unchanged one is that of an earlier event.
    boolean own = !id.isEmpty() && !id.equals(lastId);
    lastId = id;
    // An event without data only moves the cursor; other types than "message" are not MCP.
    if (event.dataLength() > 0 && event.type().equals(SseEvent.DEFAULT_TYPE)) {
      byte[] payload = JsonLines.singleLine(event.copyData());
      messages.add(new UpstreamMessage(payload, own ? id : null));
    } else if (own && HeaderValues.isSendable(id)) {
      idAlone = id;
    }
    if (event.type().equals(ENDPOINT)) {
      endpoints.accept(new String(event.copyData(), UTF_8));
    }
  }

  @Override
  public void comment() {
    eventful = true;
  }
}
