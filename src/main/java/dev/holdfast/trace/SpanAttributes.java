package dev.holdfast.trace;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Message;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.StatusCode;
import org.jspecify.annotations.Nullable;

/**
 * Names of spans, and their attributes. Names are those of OpenTelemetry's conventions for MCP and
 * HTTP where these have one. No attribute has a payload, a token or a full session id.
 */
final class SpanAttributes {

  static final AttributeKey<String> UPSTREAM = AttributeKey.stringKey("holdfast.upstream");
  static final AttributeKey<String> STREAM = AttributeKey.stringKey("holdfast.stream");
  static final AttributeKey<String> POSITION = AttributeKey.stringKey("holdfast.position");
  static final AttributeKey<String> LAST_POSITION =
      AttributeKey.stringKey("holdfast.position.last");
  static final AttributeKey<Long> EVENTS = AttributeKey.longKey("holdfast.events");
  static final AttributeKey<String> SESSION = AttributeKey.stringKey("mcp.session.id");
  static final AttributeKey<String> CLIENT = AttributeKey.stringKey("holdfast.client");
  static final AttributeKey<String> VERSION = AttributeKey.stringKey("mcp.protocol.version");
  static final AttributeKey<String> HTTP_METHOD = AttributeKey.stringKey("http.request.method");
  static final AttributeKey<Long> STATUS = AttributeKey.longKey("http.response.status_code");
  private static final AttributeKey<String> METHOD = AttributeKey.stringKey("mcp.method.name");
  private static final AttributeKey<String> TOOL = AttributeKey.stringKey("gen_ai.tool.name");
  private static final AttributeKey<String> ERROR = AttributeKey.stringKey("error.type");

  /** Clients choose the names of methods and tools. */
  private static final int MOST_CHARACTERS = 100;

  private SpanAttributes() {}

  /** The name of a span about a body: the method, and the tool if it calls one. */
  static String name(Body body) {
    if (!(body instanceof Body.Single(Message message))) {
      return "batch";
    }
    String method = method(message);
    String tool = tool(message);
    return tool == null ? method : method + " " + tool;
  }

  static void describe(SpanBuilder span, Body body) {
    if (body instanceof Body.Single(Message message)) {
      span.setAttribute(METHOD, method(message));
      String tool = tool(message);
      if (tool != null) {
        span.setAttribute(TOOL, tool);
      }
    }
  }

  private static String method(Message message) {
    return switch (message) {
      case Message.Request request -> cut(request.method());
      case Message.Notification notification -> cut(notification.method());
      case Message.Response _ -> "response";
    };
  }

  private static @Nullable String tool(Message message) {
    return message instanceof Message.Request request && request.toolName() != null
        ? cut(request.toolName())
        : null;
  }

  static String cut(String text) {
    return text.length() <= MOST_CHARACTERS ? text : text.substring(0, MOST_CHARACTERS);
  }

  /** Marks a span as failed. The text of the failure may quote a peer, so it is left out. */
  static void fail(Span span, Throwable failure) {
    span.setStatus(StatusCode.ERROR);
    span.setAttribute(ERROR, failure.getClass().getSimpleName());
  }
}
