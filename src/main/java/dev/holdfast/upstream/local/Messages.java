package dev.holdfast.upstream.local;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.core.util.JsonRecyclerPools;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.RequestId;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** The messages of this server, each on one line, and the parameters of those it gets. */
final class Messages {

  /**
   * Buffers are pooled, not kept per thread: each virtual thread would keep its own. Characters
   * beyond the basic plane take four bytes and not two escapes.
   */
  private static final ObjectMapper MAPPER =
      new ObjectMapper(
          JsonFactory.builder()
              .recyclerPool(JsonRecyclerPools.newConcurrentDequePool())
              .enable(JsonWriteFeature.COMBINE_UNICODE_SURROGATES_IN_UTF8)
              .build());

  private static final double MAX_EXACT_INTEGER = 1L << 53;

  private Messages() {}

  /** Writes what belongs inside an object that is open. */
  @FunctionalInterface
  interface Members {
    void write(JsonGenerator json) throws IOException;
  }

  static byte[] result(RequestId id, Members result) {
    return write(json -> {
      json.writeFieldName("id");
      json.writeRawValue(id.json());
      json.writeObjectFieldStart("result");
      result.write(json);
      json.writeEndObject();
    });
  }

  static byte[] result(RequestId id, ToolResult result) {
    return result(
        id,
        json -> {
          json.writeArrayFieldStart("content");
          for (String text : result.texts()) {
            json.writeStartObject();
            json.writeStringField("type", "text");
            json.writeStringField("text", utf8(text));
            json.writeEndObject();
          }
          json.writeEndArray();
          if (result.failed()) {
            json.writeBooleanField("isError", true);
          }
        });
  }

  static byte[] error(RequestId id, JsonRpcErrorCode code, String message) {
    return JsonRpcErrors.error(id, code.code(), utf8(message));
  }

  static byte[] error(RequestId id, InvalidArgumentsException e) {
    return error(id, JsonRpcErrorCode.INVALID_PARAMS, "Invalid params: " + e.getMessage());
  }

  /**
   * @param token raw JSON, so that its type survives
   */
  static byte[] progress(
      String token, double progress, @Nullable Double total, @Nullable String message) {
    return notification(
        Methods.NOTIFICATIONS_PROGRESS,
        json -> {
          json.writeFieldName("progressToken");
          json.writeRawValue(token);
          writeNumber(json, "progress", progress);
          if (total != null) {
            writeNumber(json, "total", total);
          }
          if (message != null) {
            json.writeStringField("message", utf8(message));
          }
        });
  }

  static byte[] log(LogLevel level, String logger, String text) {
    return notification(
        Methods.NOTIFICATIONS_MESSAGE,
        json -> {
          json.writeStringField("level", level.wire());
          json.writeStringField("logger", utf8(logger));
          json.writeStringField("data", utf8(text));
        });
  }

  private static byte[] notification(String method, Members params) {
    return write(json -> {
      json.writeStringField("method", method);
      json.writeObjectFieldStart("params");
      params.write(json);
      json.writeEndObject();
    });
  }

  private static byte[] write(Members message) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);
    try (JsonGenerator json = MAPPER.getFactory().createGenerator(bytes)) {
      json.writeStartObject();
      json.writeStringField("jsonrpc", "2.0");
      message.write(json);
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /** Writes 3 and not 3.0: some clients take the numbers as they are spelled and show them. */
  private static void writeNumber(JsonGenerator json, String name, double value)
      throws IOException {
    if (value == Math.rint(value) && Math.abs(value) <= MAX_EXACT_INTEGER) {
      json.writeNumberField(name, (long) value);
    } else {
      json.writeNumberField(name, value);
    }
  }

  /** Half a surrogate pair has no place in UTF-8, and the generator refuses it: "?" replaces it. */
  private static String utf8(String text) {
    return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
  }

  /**
   * Reads a request's {@code params}.
   *
   * @return the parameters; an empty object if there are none
   * @throws InvalidArgumentsException if they are no object or cannot be represented, such as a
   *     number of a thousand digits
   */
  static ObjectNode params(Message.Request request) {
    try {
      return objectOrEmpty(MAPPER.readTree(request.bytes()), "params");
    } catch (IOException e) {
      throw new InvalidArgumentsException("they cannot be read");
    }
  }

  /**
   * Returns a member that is an object.
   *
   * @throws InvalidArgumentsException if it is something else
   */
  static ObjectNode objectOrEmpty(JsonNode parent, String name) {
    JsonNode child = parent.path(name);
    return switch (child) {
      case ObjectNode object -> object;
      case JsonNode none when none.isMissingNode() || none.isNull() -> newObject();
      default -> throw new InvalidArgumentsException(name + " must be an object");
    };
  }

  /**
   * Reads a text that should be a JSON object.
   *
   * @throws IllegalArgumentException if it is not
   */
  static ObjectNode object(String json) {
    try {
      if (MAPPER.readTree(json) instanceof ObjectNode object) {
        return object;
      }
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("Not JSON", e);
    }
    throw new IllegalArgumentException("Not a JSON object");
  }

  static ObjectNode newObject() {
    return JsonNodeFactory.instance.objectNode();
  }
}
