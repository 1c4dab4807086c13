package dev.holdfast.upstream.local.server;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.MessageQueue;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import dev.holdfast.upstream.local.LogLevel;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A session with a {@link LocalUpstream}. Its state is in its calls and its log level. */
record LocalSession(
    LocalSessionId id,
    ToolRegistry tools,
    ResourceRegistry resources,
    PromptRegistry prompts,
    LogLevelStore levels,
    ToolCalls calls)
    implements UpstreamSession {

  private static final String LOGGING_SET_LEVEL = "logging/setLevel";

  /** A body with a tool call gets a stream at once. Any other body gets a JSON answer. */
  @Override
  public Answer request(Body body) {
    calls.requireOpen();
    if (body.messages().stream().noneMatch(Message.Request.class::isInstance)) {
      throw new IllegalArgumentException("There is no request in the body");
    }
    MessageQueue answers = new MessageQueue(calls.held());
    List<ToolCallTask> registered = new ArrayList<>();
    Runnable close =
        () -> {
          var _ = answers.close();
          registered.forEach(ToolCallTask::cancel);
        };
    try {
      for (Message message : body.messages()) {
        switch (message) {
          case Message.Request call when isToolCall(call) -> register(call, answers, registered);
          case Message.Request request -> answers.add(answer(request).payload());
          case Message.Notification notification -> accept(notification);
          case Message.Response response -> calls.complete(id, response);
        }
        if (body instanceof Body.Batch && calls.held().isExceeded()) {
          throw new UpstreamException.Busy();
        }
      }
    } catch (Throwable failure) {
      close.run();
      throw failure;
    }
    if (body.messages().stream().noneMatch(LocalSession::isToolCall)) {
      return json(body, answers.close());
    }
    // The stream has all its writers before a call can end.
    registered.forEach(calls::start);
    return new Answer.Stream(new MessageQueue.Source(answers, close));
  }

  private static boolean isToolCall(Message message) {
    return message instanceof Message.Request request
        && request.method().equals(Methods.TOOLS_CALL);
  }

  private void register(Message.Request call, MessageQueue answers, List<ToolCallTask> registered) {
    try {
      registered.add(calls.register(id, call, answers));
    } catch (RequestException e) {
      answers.add(e.response(call.id()));
    }
  }

  private UpstreamMessage answer(Message.Request request) {
    try {
      ObjectNode result =
          switch (request.method()) {
            case Methods.PING -> Json.object();
            case LOGGING_SET_LEVEL -> setLogLevel(request);
            case Methods.TOOLS_LIST -> tools.list(request);
            case String method when method.startsWith("resources/") -> resources.answer(request);
            case String method when method.startsWith("prompts/") -> prompts.answer(request);
            default -> throw new RequestException(JsonRpcErrorCode.METHOD_NOT_FOUND);
          };
      return ServerMessages.result(request.id(), result, calls.maxMessageBytes());
    } catch (RequestException e) {
      return new UpstreamMessage(e.response(request.id()), null);
    }
  }

  private ObjectNode setLogLevel(Message.Request request) {
    LogLevel level =
        LogLevel.parse(Json.params(request).path("level").asText())
            .orElseThrow(() -> RequestException.invalidParams("level must be a log level"));
    try {
      levels.put(id.name(), level);
    } catch (UpstreamException storeFailed) {
      // An error response, because the same batch may have tool calls.
      throw new RequestException(JsonRpcErrorCode.INTERNAL_ERROR);
    }
    return Json.object();
  }

  private static Answer json(Body body, List<UpstreamMessage> responses) {
    if (body instanceof Body.Single) {
      return new Answer.Json(responses.getFirst());
    }
    ByteArrayOutputStream array = new ByteArrayOutputStream();
    char separator = '[';
    for (UpstreamMessage response : responses) {
      array.write(separator);
      array.writeBytes(response.payload());
      separator = ',';
    }
    array.write(']');
    return new Answer.Json(array.toByteArray());
  }

  /** Ignores all messages except cancellations and responses that calls wait for. */
  @Override
  public void send(Body body) {
    for (Message message : body.messages()) {
      switch (message) {
        case Message.Notification notification -> accept(notification);
        case Message.Response response -> calls.complete(id, response);
        case Message.Request _ -> {}
      }
    }
  }

  private void accept(Message.Notification notification) {
    RequestId cancelled = notification.cancelledRequestId();
    if (cancelled != null) {
      calls.cancel(id, cancelled);
    }
  }

  /** Always empty: all messages of this server belong to a request. */
  @Override
  public Optional<MessageSource> listen(@Nullable String after) {
    return Optional.empty();
  }

  /** Cancels the calls on this replica. Each other replica closes the streams of its own calls. */
  @Override
  public void end() {
    calls.cancelAll(id);
    levels.remove(id.name());
  }
}
