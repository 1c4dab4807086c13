package dev.holdfast.intercept;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.UncheckedIOException;

/** Messages as trees. Numbers keep their digits. */
final class MessageJson {

  private static final ObjectMapper MAPPER =
      JsonMapper.builder()
          // Of two members with one name, a reader may take either.
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
          .build();

  private MessageJson() {}

  /** Returns a parser that stands before the message. */
  static JsonParser parser(byte[] message) throws IOException {
    return MAPPER.createParser(message);
  }

  static JsonNode read(byte[] message) {
    try {
      return MAPPER.readTree(message);
    } catch (IOException invalid) {
      throw new UncheckedIOException(invalid);
    }
  }

  /** Returns one line. */
  static byte[] write(JsonNode message) {
    try {
      return MAPPER.writeValueAsBytes(message);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }
}
