package dev.holdfast.era.north;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.log.Position;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Requests of a server that wait for answers of the client, which gets them as {@code
 * inputRequests} (MCP 2026-07-28, Multi Round-Trip Requests). For one thread.
 */
final class ServerRequests {

  /** The most requests of one round. The others follow in the next one. */
  private static final int MAX_REQUESTS = 20;

  /** Time for which further requests are awaited. */
  private static final Duration GATHERING = Duration.ofMillis(50);

  private final Map<RequestId, Open> open = new LinkedHashMap<>();
  private @Nullable Position from;

  /** Nano time of the first request of the round. */
  private long since;

  /**
   * A request.
   *
   * @param input the form in which clients get it, as a raw JSON object
   */
  private record Open(Position position, String input) {}

  boolean isEmpty() {
    return open.isEmpty();
  }

  /**
   * Adds a request.
   *
   * @param before position of the event before it
   */
  void add(Message.Request request, Position before, Position position) {
    from = from == null ? before : from;
    since = open.isEmpty() ? System.nanoTime() : since;
    if (!isFull()) {
      open.put(request.id(), new Open(position, input(request)));
    }
  }

  /** Returns true if this round takes no more requests. */
  boolean isFull() {
    return open.size() >= MAX_REQUESTS;
  }

  private static String input(Message.Request request) {
    byte[] input =
        new JsonEdit()
            .remove("jsonrpc")
            .remove("id")
            .remove("params", "elicitationId")
            .apply(request.bytes());
    return new String(input, UTF_8);
  }

  /** Time after which the requests go to the client; null if there are none. */
  @Nullable Duration untilRound() {
    return open.isEmpty() ? null : GATHERING.minusNanos(System.nanoTime() - since);
  }

  /** Removes a request that the server has withdrawn. */
  void remove(RequestId id) {
    open.remove(id);
  }

  /** The position before the first request; null if there is none. */
  @Nullable Position from() {
    return from;
  }

  /** Raw ids of the requests. */
  List<String> ids() {
    List<String> ids = new ArrayList<>();
    open.keySet().forEach(id -> ids.add(id.json()));
    return ids;
  }

  /** Passes each request and its position on. */
  void forEach(BiConsumer<RequestId, Position> action) {
    open.forEach((id, request) -> action.accept(id, request.position));
  }

  /** The requests by their keys, as a raw JSON object. */
  String toJson() {
    JsonEdit all = new JsonEdit();
    open.forEach((id, request) -> all.set(request.input, id.key()));
    return all.toJson();
  }
}
