package dev.holdfast.upstream.local.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.upstream.local.ContentBlock;
import dev.holdfast.upstream.local.Prompt;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Content blocks as JSON. */
final class ContentJson {

  private ContentJson() {}

  static ObjectNode write(ContentBlock content) {
    return switch (content) {
      case ContentBlock.Text(String text) -> block("text").put("text", text);
      case ContentBlock.Image(byte[] data, String mimeType) ->
          block("image").put("data", data).put("mimeType", mimeType);
      case ContentBlock.Audio(byte[] data, String mimeType) ->
          block("audio").put("data", data).put("mimeType", mimeType);
      case ContentBlock.ResourceLink(
              String uri,
              String name,
              String description,
              String mimeType) -> {
        ObjectNode link = block("resource_link").put("uri", uri).put("name", name);
        putUnlessNull(link, "description", description);
        yield putUnlessNull(link, "mimeType", mimeType);
      }
      case ContentBlock.EmbeddedResource resource -> {
        ObjectNode block = block("resource");
        block.set("resource", resourceContents(resource));
        yield block;
      }
    };
  }

  private static ObjectNode block(String type) {
    return Json.object().put("type", type);
  }

  private static ObjectNode putUnlessNull(ObjectNode json, String name, @Nullable String value) {
    return value == null ? json : json.put(name, value);
  }

  /** Writes the contents of a resource, without a block around them. */
  static ObjectNode resourceContents(ContentBlock.EmbeddedResource resource) {
    return switch (resource) {
      case ContentBlock.TextResource(String uri, String mimeType, String text) ->
          putUnlessNull(Json.object().put("uri", uri), "mimeType", mimeType).put("text", text);
      case ContentBlock.BlobResource(String uri, String mimeType, byte[] data) ->
          putUnlessNull(Json.object().put("uri", uri), "mimeType", mimeType).put("blob", data);
    };
  }

  static ArrayNode messages(List<Prompt.PromptMessage> messages) {
    ArrayNode array = JsonNodeFactory.instance.arrayNode();
    for (Prompt.PromptMessage message : messages) {
      array
          .addObject()
          .put("role", message.role().name().toLowerCase(Locale.ROOT))
          .set("content", write(message.content()));
    }
    return array;
  }

  /** Reads the content of a sampling result: text, an image or audio. Empty if it is neither. */
  static Optional<ContentBlock> read(JsonNode json) {
    try {
      return switch (json.path("type").asText()) {
        case "text" -> Optional.of(new ContentBlock.Text(json.path("text").asText()));
        case "image" ->
            Optional.of(new ContentBlock.Image(data(json), json.path("mimeType").asText()));
        case "audio" ->
            Optional.of(new ContentBlock.Audio(data(json), json.path("mimeType").asText()));
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
