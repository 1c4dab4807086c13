package dev.holdfast.relay.stream;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.Utf8JsonFactory;
import java.io.IOException;
import java.util.Locale;
import java.util.Optional;

/** State of a call, by the newest message of its stream. */
public enum CallState {
  RUNNING,
  /** The server has asked the client, and has sent nothing since. */
  WAITING,
  FINISHED,
  FAILED,
  CANCELLED;

  /** Size of a result that is not read to its end to learn whether it is an error of the tool. */
  private static final int LARGE = 64 << 10;

  /** The name of the state. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * Reads the state of a call from the first keys of a message.
   *
   * @param isOpen whether the stream of the call is open
   * @param beginning of the newest message; empty if there is none
   * @return empty if the beginning is too short to tell
   */
  public static Optional<CallState> of(boolean isOpen, byte[] beginning) {
    if (beginning.length == 0) {
      return Optional.of(isOpen ? RUNNING : CANCELLED);
    }
    try (JsonParser parser = Utf8JsonFactory.INSTANCE.createParser(beginning)) {
      return Optional.of(isOpen ? open(parser) : complete(parser));
    } catch (IOException cut) {
      return Optional.empty();
    }
  }

  /**
   * Returns in a word how a call has ended: {@code result}, {@code tool error}, {@code error} or
   * {@code cancelled}.
   *
   * @param last the last message of its stream
   */
  public static String ending(byte[] last) {
    try (JsonParser parser = Utf8JsonFactory.INSTANCE.createParser(last)) {
      return switch (last.length == 0 ? CANCELLED : complete(parser)) {
        case FINISHED -> last.length <= LARGE && isToolError(parser) ? "tool error" : "result";
        case CANCELLED -> "cancelled";
        case FAILED, RUNNING, WAITING -> "error";
      };
    } catch (IOException cut) {
      return "error";
    }
  }

  /** Reads a result from its key on. */
  private static boolean isToolError(JsonParser parser) throws IOException {
    while (nextKey(parser)) {
      if (parser.currentName().equals("isError")) {
        return parser.nextToken() == JsonToken.VALUE_TRUE;
      }
      skipValue(parser);
    }
    return false;
  }

  private static CallState open(JsonParser parser) throws IOException {
    boolean hasId = false;
    boolean hasMethod = false;
    while (nextKey(parser)) {
      hasId |= parser.currentName().equals("id");
      hasMethod |= parser.currentName().equals("method");
      if (hasId && hasMethod) {
        return WAITING;
      }
      skipValue(parser);
    }
    return RUNNING;
  }

  private static CallState complete(JsonParser parser) throws IOException {
    while (nextKey(parser)) {
      switch (parser.currentName()) {
        case "result" -> {
          return FINISHED;
        }
        case "error" -> {
          return failed(parser);
        }
        default -> skipValue(parser);
      }
    }
    return FAILED; // It is no response.
  }

  private static CallState failed(JsonParser parser) throws IOException {
    while (nextKey(parser)) {
      boolean isCode = parser.currentName().equals("code");
      JsonToken value = parser.nextToken();
      if (isCode && value == JsonToken.VALUE_NUMBER_INT) {
        return parser.getLongValue() == JsonRpcErrorCode.CANCELLED.code() ? CANCELLED : FAILED;
      }
      parser.skipChildren();
    }
    return FAILED;
  }

  /** Enters an object, or continues in it. Returns false at its end. */
  private static boolean nextKey(JsonParser parser) throws IOException {
    JsonToken token = parser.nextToken();
    while (token == JsonToken.START_OBJECT || token == JsonToken.START_ARRAY) {
      token = parser.nextToken();
    }
    return token == JsonToken.FIELD_NAME;
  }

  private static void skipValue(JsonParser parser) throws IOException {
    parser.nextToken();
    parser.skipChildren();
  }
}
