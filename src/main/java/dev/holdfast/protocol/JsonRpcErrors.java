package dev.holdfast.protocol;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes the error responses of the gateway itself. */
public final class JsonRpcErrors {

  private JsonRpcErrors() {}

  /** Returns an error response without data. */
  public static byte[] error(@Nullable RequestId id, JsonRpcErrorCode code, String message) {
    return error(id, code.code(), message, Map.of());
  }

  /**
   * Returns an error response with data.
   *
   * @param data raw JSON on one line
   */
  public static byte[] error(
      @Nullable RequestId id, JsonRpcErrorCode code, String message, String data) {
    return new JsonEdit().set(data, "error", "data").apply(error(id, code, message));
  }

  /**
   * Returns an error response: one line of JSON in UTF-8.
   *
   * @param id the id of the request. A null id is left out: the schema of MCP allows a missing id,
   *     "if the request's ID could not be read", but not the null of JSON-RPC.
   * @param message a text that the client may see
   * @param data members of the error's data, in the map's order; empty for none. Values are
   *     strings, booleans, numbers and nulls
   * @throws IllegalStateException if a value is of another type
   */
  public static byte[] error(
      @Nullable RequestId id,
      int code,
      String message,
      Map<String, ? extends @Nullable Object> data) {
    // To a string first: a generator of bytes throws at an unpaired surrogate, which may come from
    // client text that a message quotes. Here it becomes a question mark.
    StringWriter text = new StringWriter();
    try (JsonGenerator json = Utf8JsonFactory.INSTANCE.createGenerator(text)) {
      json.writeStartObject();
      json.writeStringField("jsonrpc", "2.0");
      if (id != null) {
        json.writeFieldName("id");
        json.writeRawValue(id.json());
      }
      json.writeObjectFieldStart("error");
      json.writeNumberField("code", code);
      json.writeStringField("message", message);
      if (!data.isEmpty()) {
        json.writeObjectFieldStart("data");
        for (Map.Entry<String, ? extends @Nullable Object> entry : data.entrySet()) {
          json.writeObjectField(entry.getKey(), entry.getValue());
        }
        json.writeEndObject();
      }
      json.writeEndObject();
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return text.toString().getBytes(StandardCharsets.UTF_8);
  }
}
