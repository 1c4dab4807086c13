package dev.holdfast.upstream.local.server;

import com.fasterxml.jackson.databind.node.ArrayNode;
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
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jboss.logging.Logger;
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

  private static final Logger LOG = Logger.getLogger(LocalSession.class);

  private static final String LOGGING_SET_LEVEL = "logging/setLevel";
  private static final String COMPLETE = "completion/complete";

  /** Time in which a tool that cannot go on says so. */
  private static final Duration FIRST_MESSAGE = Duration.ofMillis(50);

  /** MCP 2025-11-25, Completion. */
  private static final int MAX_SUGGESTIONS = 100;

  /**
   * A body with a call of a tool, or of a prompt that asks, gets a stream at once. Any other body
   * gets a JSON answer.
   */
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
          case Message.Request call when isCall(call) -> register(call, answers, registered);
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
    if (body.messages().stream().noneMatch(this::isCall)) {
      return json(body, answers.close());
    }
    // The stream has all its writers before a call can end.
    registered.forEach(calls::start);
    if (id.isForStateless()) {
      awaitFirst(answers);
    }
    return new Answer.Stream(new MessageQueue.Source(answers, close));
  }

  /** An error has a status in MCP 2026-07-28 only if nothing was sent before. */
  private static void awaitFirst(MessageQueue answers) {
    try {
      boolean _ = answers.await(FIRST_MESSAGE);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean isCall(Message message) {
    return message instanceof Message.Request request
        && (request.method().equals(Methods.TOOLS_CALL) || prompts.asking(request) != null);
  }

  private void register(Message.Request call, MessageQueue answers, List<ToolCallTask> registered) {
    try {
      Callee prompt = prompts.asking(call);
      Callee callee = prompt == null ? tools.find(call) : prompt;
      registered.add(calls.register(id, call, callee, answers));
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
            case COMPLETE -> complete(request);
            case String method when method.startsWith("resources/") -> resources.answer(request);
            case String method when method.startsWith("prompts/") -> prompts.answer(request);
            default -> throw new RequestException(JsonRpcErrorCode.METHOD_NOT_FOUND);
          };
      return ServerMessages.result(request.id(), result, calls.maxMessageBytes());
    } catch (RequestException e) {
      return new UpstreamMessage(e.response(request.id()), null);
    }
  }

  @SuppressWarnings("CatchThrowable") // the client always gets a response
  private ObjectNode complete(Message.Request request) {
    ObjectNode params = Json.params(request);
    ObjectNode reference = Json.member(params, "ref");
    String argument = params.path("argument").path("name").textValue();
    String begun = params.path("argument").path("value").textValue();
    if (argument == null || begun == null) {
      throw RequestException.invalidParams("argument must have a name and a value");
    }
    try {
      List<String> values =
          switch (reference.path("type").asText()) {
            case "ref/prompt" -> prompts.complete(reference, argument, begun);
            case "ref/resource" -> resources.complete(reference, argument, begun);
            default -> throw RequestException.invalidParams("ref has an unknown type");
          };
      ObjectNode result = Json.object();
      ObjectNode completion = result.putObject("completion");
      ArrayNode first = completion.putArray("values");
      values.stream().limit(MAX_SUGGESTIONS).forEach(first::add);
      completion.put("total", values.size()).put("hasMore", values.size() > MAX_SUGGESTIONS);
      return result;
    } catch (RequestException refused) {
      throw refused;
    } catch (Throwable e) {
      LOG.errorf(e, "a completion failed argument=%s", argument);
      throw new RequestException(JsonRpcErrorCode.INTERNAL_ERROR);
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
