package dev.holdfast.upstream.local;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.Base64;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A piece of what a tool gives or a model says. Arrays of bytes are not copied: whoever holds one
 * must not change it.
 *
 * @see <a
 *     href="https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-result">MCP
 *     2025-11-25, Tools, Tool Result</a>
 */
public sealed interface Content {

  /** Text, for people and models. */
  record Text(String text) implements Content {}

  /**
   * A picture.
   *
   * @param mimeType such as {@code image/png}
   */
  record Image(byte[] data, String mimeType) implements Content {}

  /**
   * A sound; clients know it since 2025-03-26.
   *
   * @param mimeType such as {@code audio/wav}
   */
  record Audio(byte[] data, String mimeType) implements Content {}

  /**
   * Where something is that the client may read; clients know it since 2025-06-18.
   *
   * @param name for people
   * @param description what it is, for models; null for nothing
   * @param mimeType null if it is unknown
   */
  record Link(String uri, String name, @Nullable String description, @Nullable String mimeType)
      implements Content {}

  /** Something that has an address. */
  sealed interface Embedded extends Content {}

  /**
   * Something that has an address, and its text.
   *
   * @param mimeType null if it is unknown
   */
  record TextResource(String uri, @Nullable String mimeType, String text) implements Embedded {}

  /**
   * Something that has an address, and its bytes.
   *
   * @param mimeType null if it is unknown
   */
  record BinaryResource(String uri, @Nullable String mimeType, byte[] data) implements Embedded {}

  /** Writes one JSON object. */
  static void write(Content content, JsonGenerator json) throws IOException {
    json.writeStartObject();
    switch (content) {
      case Text(String text) -> member(json, "text", "text", text);
      case Image(byte[] data, String mimeType) -> media(json, "image", data, mimeType);
      case Audio(byte[] data, String mimeType) -> media(json, "audio", data, mimeType);
      case Link(String uri, String name, String description, String mimeType) -> {
        member(json, "resource_link", "uri", uri);
        optional(json, "name", name);
        optional(json, "description", description);
        optional(json, "mimeType", mimeType);
      }
      case Embedded resource -> {
        json.writeStringField("type", "resource");
        json.writeFieldName("resource");
        writeResource(resource, json);
      }
    }
    json.writeEndObject();
  }

  private static void member(JsonGenerator json, String type, String name, String value)
      throws IOException {
    json.writeStringField("type", type);
    json.writeStringField(name, Messages.utf8(value));
  }

  private static void media(JsonGenerator json, String type, byte[] data, String mimeType)
      throws IOException {
    member(json, type, "data", Base64.getEncoder().encodeToString(data));
    json.writeStringField("mimeType", mimeType);
  }

  private static void optional(JsonGenerator json, String name, @Nullable String value)
      throws IOException {
    if (value != null) {
      json.writeStringField(name, Messages.utf8(value));
    }
  }

  /** Writes one JSON object: what has an address, and nothing around it. */
  static void writeResource(Embedded resource, JsonGenerator json) throws IOException {
    switch (resource) {
      case TextResource(String uri, String mimeType, String text) ->
          resource(json, uri, mimeType, "text", text);
      case BinaryResource(String uri, String mimeType, byte[] data) ->
          resource(json, uri, mimeType, "blob", Base64.getEncoder().encodeToString(data));
    }
  }

  private static void resource(
      JsonGenerator json, String uri, @Nullable String mimeType, String kind, String value)
      throws IOException {
    json.writeStartObject();
    json.writeStringField("uri", Messages.utf8(uri));
    optional(json, "mimeType", mimeType);
    json.writeStringField(kind, Messages.utf8(value));
    json.writeEndObject();
  }

  /** Reads what a model may say: text, a picture or a sound. Empty if it is anything else. */
  static Optional<Content> read(JsonNode json) {
    try {
      return switch (json.path("type").asText()) {
        case "text" -> Optional.of(new Text(json.path("text").asText()));
        case "image" -> Optional.of(new Image(data(json), json.path("mimeType").asText()));
        case "audio" -> Optional.of(new Audio(data(json), json.path("mimeType").asText()));
        default -> Optional.empty();
      };
    } catch (IllegalArgumentException notBase64) {
      return Optional.empty();
    }
  }

  private static byte[] data(JsonNode json) {
    return Base64.getDecoder().decode(json.path("data").asText());
  }
}
