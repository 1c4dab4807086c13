package dev.holdfast.era.north;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.log.Position;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Requests of a server that wait for answers of the client, which gets them as {@code
 * inputRequests} (MCP 2026-07-28, Multi Round-Trip Requests). For one thread.
 */
final class ServerRequests {

  static final String ELICITATION = "elicitation/create";
  static final String SAMPLING = "sampling/createMessage";
  static final String ROOTS = "roots/list";

  static final Set<String> METHODS = Set.of(ELICITATION, SAMPLING, ROOTS);

  /** The most requests of one round. The others follow in the next one. */
  private static final int MAX_REQUESTS = 20;

  private final Map<RequestId, String> open = new LinkedHashMap<>();
  private @Nullable Position from;

  boolean isEmpty() {
    return open.isEmpty();
  }

  /**
   * Adds a request.
   *
   * @param before position of the event before it
   */
  void add(Message.Request request, Position before) {
    from = from == null ? before : from;
    if (open.size() < MAX_REQUESTS) {
      byte[] input =
          new JsonEdit()
              .remove("jsonrpc")
              .remove("id")
              .remove("params", "elicitationId")
              .apply(request.bytes());
      open.put(request.id(), new String(input, UTF_8));
    }
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

  /** The requests by their keys, as a raw JSON object. */
  String toJson() {
    JsonEdit all = new JsonEdit();
    open.forEach((id, request) -> all.set(request, key(id.json())));
    return new String(all.apply("{}".getBytes(UTF_8)), UTF_8);
  }

  /** The key under which the client answers a request of that raw id. */
  static String key(String id) {
    return Objects.requireNonNullElse(JsonEdit.text(id), id);
  }

  /**
   * Returns the capability that a request needs and the client has not declared, as a raw JSON
   * object; null if nothing is missing. A bare {@code elicitation} means forms.
   */
  static @Nullable String missingCapability(Message.Request request, byte[] capabilities) {
    return switch (request.method()) {
      case ELICITATION -> {
        String mode = JsonEdit.text(JsonEdit.raw(request.bytes(), "params", "mode"));
        String wanted = "url".equals(mode) ? "url" : "form";
        boolean has =
            JsonEdit.raw(capabilities, "elicitation", wanted) != null
                || (wanted.equals("form") && isBare(capabilities, "elicitation"));
        yield has ? null : "{\"elicitation\":{\"" + wanted + "\":{}}}";
      }
      case SAMPLING -> {
        boolean tools = JsonEdit.raw(request.bytes(), "params", "tools") != null;
        if (tools && JsonEdit.raw(capabilities, "sampling", "tools") == null) {
          yield "{\"sampling\":{\"tools\":{}}}";
        }
        yield JsonEdit.raw(capabilities, "sampling") == null ? "{\"sampling\":{}}" : null;
      }
      case ROOTS -> JsonEdit.raw(capabilities, "roots") == null ? "{\"roots\":{}}" : null;
      default -> "{}";
    };
  }

  private static boolean isBare(byte[] capabilities, String name) {
    String declared = JsonEdit.raw(capabilities, name);
    return declared != null && declared.replaceAll("\\s", "").equals("{}");
  }
}
