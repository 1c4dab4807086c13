package dev.holdfast.agent;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.holdfast.upstream.local.LogLevel;
import dev.holdfast.upstream.local.server.Json;
import dev.holdfast.upstream.local.server.ServerMessages;
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

  private static final String LOGGER = "agent";

  private EventMessages() {}

  static byte[] write(AgentEvent event) {
    return ServerMessages.log(event.type().level(), LOGGER, Json.MAPPER.valueToTree(event));
  }

  /** Tells the followers of a stream that events are missing. */
  static byte[] purged(String session, long nextIndex) {
    return ServerMessages.log(
        LogLevel.WARNING,
        LOGGER,
        Json.object()
            .put("session", session)
            .put("type", "purged")
            .put("next_since_index", nextIndex));
  }

  /** Reads an event that {@link #write(AgentEvent)} has written. */
  static AgentEvent read(byte[] message) {
    try {
      return Json.MAPPER.treeToValue(
          Json.MAPPER.readTree(message).at("/params/data"), AgentEvent.class);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Reads a line of an agent; missing if it is not JSON. */
  static JsonNode parse(byte[] line) {
    try {
      return Json.MAPPER.readTree(line);
    } catch (IOException notJson) {
      return MissingNode.getInstance();
    }
  }
}
