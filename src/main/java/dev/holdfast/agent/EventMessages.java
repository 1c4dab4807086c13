package dev.holdfast.agent;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.util.JsonRecyclerPools;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.upstream.local.LogLevel;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * Events as the log messages in which the event log keeps them, and clients get them.
 *
 * @see <a
 *     href="https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging">MCP
 *     2025-11-25, Logging</a>
 */
final class EventMessages {

  private static final ObjectMapper MAPPER =
      JsonMapper.builder(
              JsonFactory.builder()
                  .recyclerPool(JsonRecyclerPools.newConcurrentDequePool())
                  .build())
          .defaultPropertyInclusion(
              JsonInclude.Value.construct(JsonInclude.Include.NON_NULL, JsonInclude.Include.ALWAYS))
          .build();

  private EventMessages() {}

  static byte[] write(AgentEvent event) {
    return write(event.type().level(), MAPPER.valueToTree(event));
  }

  /** Tells the followers of a stream that events are missing. */
  static byte[] purged(String session, long nextIndex) {
    return write(
        LogLevel.WARNING,
        JsonNodeFactory.instance
            .objectNode()
            .put("session", session)
            .put("type", "purged")
            .put("next_since_index", nextIndex));
  }

  private static byte[] write(LogLevel level, JsonNode data) {
    ObjectNode message = JsonNodeFactory.instance.objectNode().put("jsonrpc", "2.0");
    message.put("method", "notifications/message");
    message.putObject("params").put("level", level.wire()).put("logger", "agent").set("data", data);
    try {
      return MAPPER.writeValueAsString(message).getBytes(UTF_8);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Reads an event that {@link #write(AgentEvent)} has written. */
  static AgentEvent read(byte[] message) {
    try {
      return MAPPER.treeToValue(MAPPER.readTree(message).at("/params/data"), AgentEvent.class);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Reads a line of an agent; missing if it is not JSON. */
  static JsonNode parse(byte[] line) {
    try {
      return MAPPER.readTree(line);
    } catch (IOException notJson) {
      return MissingNode.getInstance();
    }
  }
}
