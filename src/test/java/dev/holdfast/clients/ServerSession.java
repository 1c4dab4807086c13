package dev.holdfast.clients;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.time.Duration;

/** One session with an MCP server, whose requests have the ids 0, 1, 2, … */
interface ServerSession extends AutoCloseable {

  /** How long an answer may take on a machine that does other work. */
  Duration LIMIT = Duration.ofMinutes(5);

  /** Keeps the digits of numbers. */
  ObjectMapper JSON =
      JsonMapper.builder()
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
          .build();

  /**
   * Sends a request and waits for its response.
   *
   * @param parameters as JSON
   * @return the whole message: a result or an error
   */
  JsonNode ask(String method, String parameters);

  /** Sends a notification without parameters. */
  void tell(String method);

  @Override
  void close();

  /** A request as JSON. */
  static String request(int id, String method, String parameters) {
    return """
    {"jsonrpc":"2.0","id":%d,"method":"%s","params":%s}\
    """
        .formatted(id, method, parameters);
  }

  /** A notification as JSON. */
  static String notification(String method) {
    return """
    {"jsonrpc":"2.0","method":"%s"}\
    """
        .formatted(method);
  }

  /** Reads a message. */
  static JsonNode parse(String message) {
    try {
      return JSON.readTree(message);
    } catch (JsonProcessingException none) {
      throw new AssertionError("no message: " + message, none);
    }
  }
}
