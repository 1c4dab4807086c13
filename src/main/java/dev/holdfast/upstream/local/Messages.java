package dev.holdfast.upstream.local;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
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
import java.util.List;
import java.util.Optional;
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

  static byte[] result(RequestId id, Outcome outcome) {
    return result(
        id,
        json -> {
          json.writeArrayFieldStart("content");
          for (Content content : outcome.content()) {
            Content.write(content, json);
          }
          json.writeEndArray();
          if (outcome.structured() != null) {
            json.writeFieldName("structuredContent");
            json.writeTree(outcome.structured());
          }
          if (outcome.failed()) {
            json.writeBooleanField("isError", true);
          }
        });
  }

  /**
   * The id of a request for a list.
   *
   * @throws InvalidParamsException if it asks for a further page: there is only one
   */
  static RequestId firstPage(Message.Request request) {
    if (params(request).hasNonNull("cursor")) {
      throw new InvalidParamsException("there is only one page, so no cursor is valid");
    }
    return request.id();
  }

  /** All there is, on one page. */
  static byte[] page(RequestId id, String name, List<ObjectNode> all) {
    return result(
        id,
        json -> {
          json.writeArrayFieldStart(name);
          for (ObjectNode each : all) {
            json.writeTree(each);
          }
          json.writeEndArray();
        });
  }

  static byte[] error(RequestId id, JsonRpcErrorCode code, String message) {
    return JsonRpcErrors.error(id, code.code(), utf8(message));
  }

  static byte[] error(RequestId id, InvalidParamsException e) {
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

  static byte[] request(RequestId id, String method, Members params) {
    return write(json -> {
      json.writeFieldName("id");
      json.writeRawValue(id.json());
      json.writeStringField("method", method);
      json.writeObjectFieldStart("params");
      params.write(json);
      json.writeEndObject();
    });
  }

  /** The client need not answer this any more. */
  static byte[] cancelled(RequestId id) {
    return notification(
        Methods.NOTIFICATIONS_CANCELLED,
        json -> {
          json.writeFieldName("requestId");
          json.writeRawValue(id.json());
        });
  }

  /** The parameters of {@code sampling/createMessage}. */
  static void sampling(SamplingRequest sampling, JsonGenerator json) throws IOException {
    Turn.write(sampling.turns(), json);
    json.writeNumberField("maxTokens", sampling.maxTokens());
    if (sampling.systemPrompt() != null) {
      json.writeStringField("systemPrompt", utf8(sampling.systemPrompt()));
    }
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
  static String utf8(String text) {
    return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
  }

  /**
   * Reads a request's {@code params}.
   *
   * @return the parameters; an empty object if there are none
   * @throws InvalidParamsException if they are no object or cannot be represented, such as a number
   *     of a thousand digits
   */
  static ObjectNode params(Message.Request request) {
    return objectOrEmpty(
        read(request.bytes()).orElseThrow(() -> new InvalidParamsException("they cannot be read")),
        "params");
  }

  /**
   * Returns a member that is an object.
   *
   * @throws InvalidParamsException if it is something else
   */
  static ObjectNode objectOrEmpty(JsonNode parent, String name) {
    JsonNode child = parent.path(name);
    return switch (child) {
      case ObjectNode object -> object;
      case JsonNode none when none.isMissingNode() || none.isNull() -> newObject();
      default -> throw new InvalidParamsException(name + " must be an object");
    };
  }

  /** Reads a message; empty if it is no object or cannot be represented. */
  static Optional<ObjectNode> read(byte[] message) {
    try {
      return MAPPER.readTree(message) instanceof ObjectNode object
          ? Optional.of(object)
          : Optional.empty();
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /**
   * Reads a text that is a JSON object.
   *
   * @throws IllegalArgumentException if it is not
   */
  static ObjectNode object(String json) {
    return read(json.getBytes(StandardCharsets.UTF_8))
        .orElseThrow(() -> new IllegalArgumentException("Not a JSON object"));
  }

  static ObjectNode newObject() {
    return JsonNodeFactory.instance.objectNode();
  }
}
