package dev.holdfast.record;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.util.JsonRecyclerPools;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/** Reads the JSON of messages that {@link dev.holdfast.protocol.Envelopes} has checked. */
final class TapeJson {

  private static final ObjectMapper MAPPER =
      JsonMapper.builder(
              JsonFactory.builder()
                  .recyclerPool(JsonRecyclerPools.newConcurrentDequePool())
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxStringLength(Integer.MAX_VALUE)
                          .maxNumberLength(Integer.MAX_VALUE)
                          .build())
                  .build())
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .build();

  private TapeJson() {}

  static JsonParser parser(byte[] json) throws IOException {
    return MAPPER.getFactory().createParser(json);
  }

  static JsonNode tree(byte[] json) {
    try {
      return MAPPER.readTree(json);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The content of a message, without what only identifies it. */
  static JsonNode withoutId(byte[] message) {
    JsonNode tree = tree(message);
    if (tree instanceof ObjectNode object) {
      object.remove("id");
    }
    return tree;
  }

  /**
   * Replaces the value at a path of names. All other bytes stay as they are. A message without the
   * path is returned unchanged.
   */
  static byte[] replace(byte[] json, String value, String... path) {
    try (JsonParser parser = parser(json)) {
      parser.nextToken();
      for (String wanted : path) {
        String name = parser.nextFieldName();
        while (name != null && !name.equals(wanted)) {
          parser.nextToken();
          parser.skipChildren();
          name = parser.nextFieldName();
        }
        if (name == null || parser.nextToken() == JsonToken.VALUE_NULL) {
          return json;
        }
      }
      int from = (int) parser.currentTokenLocation().getByteOffset();
      parser.finishToken();
      int to = (int) parser.currentLocation().getByteOffset();
      ByteArrayOutputStream replaced = new ByteArrayOutputStream(json.length + value.length());
      replaced.write(json, 0, from);
      replaced.writeBytes(value.getBytes(UTF_8));
      replaced.write(json, to, json.length - to);
      return replaced.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
