package dev.holdfast.record;

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
import java.io.IOException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;

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

  /** The fields of a line of a tape. */
  static JsonNode line(byte[] line) throws IOException {
    JsonNode fields =
        MAPPER.reader().with(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).readTree(line);
    if (!fields.isObject()) {
      throw new IllegalArgumentException("not a JSON object");
    }
    return fields;
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

  /** The bytes of a value: the first one, and the one after the last. */
  record Range(int from, int to) {}

  /** Finds the value at a path of names; null if there is none. */
  static @Nullable Range find(byte[] json, String... path) {
    try (JsonParser parser = MAPPER.getFactory().createParser(json)) {
      parser.nextToken();
      for (String wanted : path) {
        String name = parser.nextFieldName();
        while (name != null && !name.equals(wanted)) {
          parser.nextToken();
          parser.skipChildren();
          name = parser.nextFieldName();
        }
        if (name == null || parser.nextToken() == JsonToken.VALUE_NULL) {
          return null;
        }
      }
      int from = (int) parser.currentTokenLocation().getByteOffset();
      parser.skipChildren();
      parser.finishToken();
      return new Range(from, (int) parser.currentLocation().getByteOffset());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
