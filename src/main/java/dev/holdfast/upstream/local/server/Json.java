package dev.holdfast.upstream.local.server;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.util.JsonRecyclerPools;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.protocol.Message;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** Reads and writes JSON objects. */
public final class Json {

  /** Converts records from and to JSON, without components that are null. */
  public static final ObjectMapper MAPPER =
      JsonMapper.builder(
              // A pool instead of thread locals: each virtual thread would keep its own buffers.
              JsonFactory.builder()
                  .recyclerPool(JsonRecyclerPools.newConcurrentDequePool())
                  .build())
          // Schemas of records know no null, so an absent component is left out.
          .defaultPropertyInclusion(
              JsonInclude.Value.construct(JsonInclude.Include.NON_NULL, JsonInclude.Include.ALWAYS))
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .build();

  private Json() {}

  /** A new object. */
  public static ObjectNode object() {
    return JsonNodeFactory.instance.objectNode();
  }

  /** Reads a message; empty if it is no object, or holds a value that Java cannot represent. */
  static Optional<ObjectNode> read(byte[] message) {
    try {
      return MAPPER.readTree(message) instanceof ObjectNode object
          ? Optional.of(object)
          : Optional.empty();
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /** Writes one line of UTF-8. The step over a string turns an unpaired surrogate into "?". */
  static byte[] write(ObjectNode object) {
    try {
      return MAPPER.writeValueAsString(object).getBytes(StandardCharsets.UTF_8);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns {@code params}; an empty object if the request has none. */
  static ObjectNode params(Message.Request request) {
    return member(
        read(request.bytes())
            .orElseThrow(() -> RequestException.invalidParams("they cannot be read")),
        "params");
  }

  /** Returns an object member; an empty object if it is missing or null. */
  static ObjectNode member(JsonNode parent, String name) {
    return switch (parent.path(name)) {
      case ObjectNode object -> object;
      case JsonNode none when none.isMissingNode() || none.isNull() -> object();
      default -> throw RequestException.invalidParams(name + " must be an object");
    };
  }

  /** Returns the only page of a list; throws if the request asks for another one. */
  static ObjectNode onlyPage(Message.Request request, ObjectNode page) {
    if (params(request).hasNonNull("cursor")) {
      throw RequestException.invalidParams("there is only one page, so no cursor is valid");
    }
    return page;
  }
}
