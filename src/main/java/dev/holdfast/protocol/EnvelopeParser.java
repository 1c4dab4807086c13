package dev.holdfast.protocol;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Parses one JSON value as a message. Parsing and checking are two steps, because members come in
 * any order: an error response echoes the id even if it comes after the mistake.
 */
final class EnvelopeParser {

  // Members, as bits of "seen" and "doubled".
  private static final int JSONRPC = 1;
  private static final int ID = 1 << 1;
  private static final int METHOD = 1 << 2;
  private static final int PARAMS = 1 << 3;
  private static final int RESULT = 1 << 4;
  private static final int ERROR = 1 << 5;
  private static final int PARAMS_NAME = 1 << 6;
  private static final int PARAMS_META = 1 << 7;
  private static final int PARAMS_REQUEST_ID = 1 << 8;
  private static final int PROGRESS_TOKEN = 1 << 9;
  private static final int PARAMS_PROGRESS_TOKEN = 1 << 10;
  private static final int VERSION = 1 << 11;

  private final byte[] body;
  private final boolean isObject;

  private int seen;
  private int doubled;
  private int tooLong;
  private boolean versionIsTwo;
  private boolean idIsNull;
  private boolean paramsAreStructured = true;
  private boolean errorIsObject;
  private @Nullable String id;
  private @Nullable String method;
  private @Nullable String paramsName;
  private @Nullable String paramsRequestId;
  private @Nullable String progressToken;
  private @Nullable String paramsProgressToken;
  private @Nullable String version;

  /**
   * Reads the value that begins at the parser's current token.
   *
   * @throws IOException if it is not JSON
   */
  EnvelopeParser(JsonParser parser, byte[] body) throws IOException {
    this.body = body;
    isObject = parser.currentToken() == JsonToken.START_OBJECT;
    if (!isObject) {
      parser.skipChildren();
      parser.finishToken();
      return;
    }
    String name;
    while ((name = parser.nextFieldName()) != null) {
      readMember(name, parser.nextToken(), parser);
    }
  }

  private void readMember(String name, JsonToken value, JsonParser parser) throws IOException {
    switch (name) {
      case "jsonrpc" -> versionIsTwo = "2.0".equals(stringOrNull(JSONRPC, value, parser));
      case "id" -> {
        idIsNull = value == JsonToken.VALUE_NULL;
        id = stringOrNumberOrNull(ID, value, parser);
      }
      case "method" -> method = stringOrNull(METHOD, value, parser);
      case "params" -> {
        see(PARAMS);
        paramsAreStructured = value.isStructStart();
        if (value == JsonToken.START_OBJECT) {
          readParams(parser);
        }
      }
      case "result" -> see(RESULT);
      case "error" -> {
        see(ERROR);
        errorIsObject = value == JsonToken.START_OBJECT;
      }
      default -> {}
    }
    parser.skipChildren();
  }

  private void readParams(JsonParser parser) throws IOException {
    String name;
    while ((name = parser.nextFieldName()) != null) {
      JsonToken value = parser.nextToken();
      switch (name) {
        case "name" -> paramsName = stringOrNull(PARAMS_NAME, value, parser);
        case "requestId" ->
            paramsRequestId = stringOrNumberOrNull(PARAMS_REQUEST_ID, value, parser);
        case "progressToken" ->
            paramsProgressToken = stringOrNumberOrNull(PARAMS_PROGRESS_TOKEN, value, parser);
        case "_meta" -> {
          see(PARAMS_META);
          if (value == JsonToken.START_OBJECT) {
            readMeta(parser);
          }
        }
        default -> {}
      }
      parser.skipChildren();
    }
  }

  private void readMeta(JsonParser parser) throws IOException {
    String name;
    while ((name = parser.nextFieldName()) != null) {
      JsonToken value = parser.nextToken();
      if (name.equals("progressToken")) {
        progressToken = stringOrNumberOrNull(PROGRESS_TOKEN, value, parser);
      } else if (name.equals(MetaKeys.PROTOCOL_VERSION)) {
        version = Objects.requireNonNullElse(stringOrNull(VERSION, value, parser), "");
      }
      parser.skipChildren();
    }
  }

  private void see(int member) {
    doubled |= seen & member;
    seen |= member;
  }

  private boolean has(int members) {
    return (seen & members) != 0;
  }

  private @Nullable String stringOrNull(int member, JsonToken value, JsonParser parser)
      throws IOException {
    see(member);
    if (value != JsonToken.VALUE_STRING) {
      return null;
    }
    if (isShort(member, parser.getTextLength())) {
      String text = parser.getText();
      boolean mayBeLong = text.length() * 3 > Envelopes.MAX_FIELD_BYTES;
      if (!mayBeLong || isShort(member, text.getBytes(UTF_8).length)) {
        return text;
      }
    }
    return null;
  }

  /** The raw JSON of the current token, the value of a member. */
  private @Nullable String stringOrNumberOrNull(int member, JsonToken value, JsonParser parser)
      throws IOException {
    see(member);
    if (value.isNumeric()) {
      return isShort(member, parser.getTextLength()) ? parser.getText() : null;
    }
    if (value != JsonToken.VALUE_STRING) {
      return null;
    }
    int from = (int) parser.currentTokenLocation().getByteOffset();
    parser.finishToken();
    int length = (int) parser.currentLocation().getByteOffset() - from;
    return isShort(member, length) ? new String(body, from, length, UTF_8) : null;
  }

  /** A long value is not kept, not even until the message is checked. */
  private boolean isShort(int member, int bytes) {
    if (bytes > Envelopes.MAX_FIELD_BYTES) {
      tooLong |= member;
    }
    return bytes <= Envelopes.MAX_FIELD_BYTES;
  }

  /**
   * Returns the message.
   *
   * @param bytes the message's exact bytes
   * @throws EnvelopeException if it is not a JSON-RPC message
   */
  Message toMessage(byte[] bytes) {
    require(isObject, "Invalid Request: a message is a JSON object");
    require(doubled == 0, "Invalid Request: a member is given twice");
    require(versionIsTwo, "Invalid Request: jsonrpc must be \"2.0\"");
    requireShort(ID, "id");
    requireShort(METHOD, "method");
    if (has(METHOD)) {
      return toRequestOrNotification(bytes);
    }
    require(has(RESULT | ERROR), "Invalid Request: neither method nor result nor error");
    return toResponse(bytes);
  }

  private Message toRequestOrNotification(byte[] bytes) {
    if (method == null) {
      throw invalid("Invalid Request: method must be a string");
    }
    require(!has(RESULT | ERROR), "Invalid Request: a method with a result or an error");
    require(paramsAreStructured, "Invalid Request: params must be an object or an array");
    if (!has(ID)) {
      // It would have no answer, but a server may run it.
      require(!method.equals(Methods.TOOLS_CALL), "Invalid Request: a call of a tool needs an id");
      return toNotification(method, bytes);
    }
    RequestId requestId = requestId(id);
    if (requestId == null) {
      throw invalid("Invalid Request: id must be a string or a number");
    }
    requireShort(PROGRESS_TOKEN, "progressToken");
    if (!method.equals(Methods.TOOLS_CALL)) {
      return new Message.Request(requestId, method, null, progressToken, version, bytes);
    }
    requireShort(PARAMS_NAME, "the name of the tool");
    require(
        paramsName == null || paramsName.chars().noneMatch(Character::isISOControl),
        "Invalid Request: the name of the tool has control characters");
    return new Message.Request(requestId, method, paramsName, progressToken, version, bytes);
  }

  private Message toNotification(String name, byte[] bytes) {
    boolean cancels = name.equals(Methods.NOTIFICATIONS_CANCELLED);
    boolean reports = name.equals(Methods.NOTIFICATIONS_PROGRESS);
    if (cancels) {
      requireShort(PARAMS_REQUEST_ID, "requestId");
    }
    if (reports) {
      requireShort(PARAMS_PROGRESS_TOKEN, "progressToken");
    }
    return new Message.Notification(
        name,
        cancels ? requestId(paramsRequestId) : null,
        reports ? paramsProgressToken : null,
        version,
        bytes);
  }

  private Message toResponse(byte[] bytes) {
    boolean error = has(ERROR);
    require(!(error && has(RESULT)), "Invalid Request: both a result and an error");
    require(!error || errorIsObject, "Invalid Request: error must be an object");
    boolean anonymous = idIsNull || !has(ID);
    require(id != null || (error && anonymous), "Invalid Request: id must be a string or a number");
    return new Message.Response(requestId(id), error, bytes);
  }

  private void require(boolean rule, String message) {
    if (!rule) {
      throw invalid(message);
    }
  }

  private void requireShort(int member, String name) {
    if ((tooLong & member) != 0) {
      throw new EnvelopeException.FieldTooLong(name, certainId());
    }
  }

  private EnvelopeException invalid(String message) {
    return new EnvelopeException(JsonRpcErrorCode.INVALID_REQUEST, message, certainId(), null);
  }

  /**
   * An error about a response does not echo its id: the sender may have an open request with the
   * same id.
   */
  private @Nullable RequestId certainId() {
    return (doubled & ID) == 0 && !has(RESULT | ERROR) ? requestId(id) : null;
  }

  private static @Nullable RequestId requestId(@Nullable String json) {
    return json == null ? null : new RequestId(json);
  }
}
