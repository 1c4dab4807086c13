package dev.holdfast.protocol;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads JSON-RPC envelopes in one pass and without building a tree. The whole body must be JSON;
 * only the members that the gateway acts on are extracted.
 *
 * @see <a href="https://www.jsonrpc.org/specification">JSON-RPC 2.0</a>
 */
public final class Envelopes {

  /**
   * Maximum length of an id, a progress token, a method name or the name of a tool, in bytes as
   * written in JSON. The gateway keeps them.
   */
  public static final int MAX_FIELD_BYTES = 256;

  /** Maximum number of messages in a batch from a server or another replica. */
  private static final int MAX_BATCH_MESSAGES = 1000;

  private Envelopes() {}

  /** Reads a body from a server or another replica; a batch has at most 1,000 messages. */
  public static Body read(byte[] body) {
    return read(body, MAX_BATCH_MESSAGES);
  }

  /**
   * Reads a body.
   *
   * <p>Beyond JSON-RPC, a member that the gateway acts on must not be given twice: the next reader
   * of the same bytes might act on the other one.
   *
   * @param body one JSON value in UTF-8, with nothing but white space around it. Shared, not
   *     copied: it must not be changed afterwards
   * @param maxMessages maximum number of messages in a batch; reading stops at the next one
   * @throws EnvelopeException with {@link JsonRpcErrorCode#PARSE_ERROR} if the body is not such a
   *     value. With {@link JsonRpcErrorCode#INVALID_REQUEST} if it is not a JSON-RPC message or a
   *     batch, has a batch with too many messages, a field longer than {@link #MAX_FIELD_BYTES}
   *     that the gateway acts on, nests deeper than 500 levels or has a name longer than 50,000
   *     bytes
   */
  public static Body read(byte[] body, int maxMessages) {
    if (!Utf8.isValid(body, 0, body.length)) {
      throw parseError(null);
    }
    try (JsonParser parser = Utf8JsonFactory.INSTANCE.createParser(body)) {
      JsonToken first = parser.nextToken();
      if (first == null) {
        throw parseError(null);
      }
      if (first == JsonToken.START_ARRAY) {
        return readBatch(parser, body, maxMessages);
      }
      EnvelopeParser fields = new EnvelopeParser(parser, body);
      requireEnd(parser);
      return new Body.Single(fields.toMessage(body));
    } catch (StreamConstraintsException e) {
      throw new EnvelopeException(
          JsonRpcErrorCode.INVALID_REQUEST,
          "Invalid Request: nested too deeply or a name too long",
          null,
          e);
    } catch (IOException e) {
      throw parseError(e);
    }
  }

  private static Body readBatch(JsonParser parser, byte[] body, int maxMessages)
      throws IOException {
    List<Element> elements = new ArrayList<>();
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      if (elements.size() == maxMessages) {
        throw invalidBatch(
            "Invalid Request: a batch has at most %d messages".formatted(maxMessages), null);
      }
      int from = (int) parser.currentTokenLocation().getByteOffset();
      EnvelopeParser fields = new EnvelopeParser(parser, body);
      elements.add(new Element(fields, from, (int) parser.currentLocation().getByteOffset()));
    }
    requireEnd(parser);
    if (elements.isEmpty()) {
      throw invalidBatch("Invalid Request: the batch is empty", null);
    }
    // Only now, since invalid JSON takes precedence over an invalid message.
    List<Message> messages = new ArrayList<>(elements.size());
    for (Element element : elements) {
      messages.add(element.toMessage(body));
    }
    return new Body.Batch(messages, body);
  }

  private static void requireEnd(JsonParser parser) throws IOException {
    if (parser.nextToken() != null) {
      throw parseError(null);
    }
  }

  private static EnvelopeException parseError(@Nullable IOException cause) {
    JsonRpcErrorCode code = JsonRpcErrorCode.PARSE_ERROR;
    return new EnvelopeException(code, code.message(), null, cause);
  }

  /** Without an id, since the whole batch is refused. */
  private static EnvelopeException invalidBatch(String message, @Nullable Throwable cause) {
    return new EnvelopeException(JsonRpcErrorCode.INVALID_REQUEST, message, null, cause);
  }

  private record Element(EnvelopeParser fields, int from, int to) {

    Message toMessage(byte[] body) {
      try {
        return fields.toMessage(Arrays.copyOfRange(body, from, to));
      } catch (EnvelopeException e) {
        throw invalidBatch(e.clientMessage(), e);
      }
    }
  }
}
