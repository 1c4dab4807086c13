package dev.holdfast.upstream.local;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamSession;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Speaks for one session of a {@link LocalUpstream}. Its state is in {@link Parts}. */
final class LocalSession implements UpstreamSession {

  private static final String LOGGING_SET_LEVEL = "logging/setLevel";

  private final Caller caller;
  private final Parts parts;

  LocalSession(Caller caller, Parts parts) {
    this.caller = caller;
    this.parts = parts;
  }

  /**
   * {@inheritDoc}
   *
   * <p>Any call of a tool makes the answer a stream, at once and whatever comes of it; everything
   * else is answered with JSON.
   *
   * @throws IllegalArgumentException if there is no request
   */
  @Override
  public Answer request(Body requests) {
    if (parts.states().closed()) {
      throw new UpstreamException.Unreachable(null);
    }
    List<Message> messages = messages(requests);
    if (messages.stream().noneMatch(Message.Request.class::isInstance)) {
      throw new IllegalArgumentException("There is no request in the body");
    }
    if (messages.stream().anyMatch(LocalSession::isCall)) {
      return stream(messages);
    }
    List<byte[]> responses = responses(messages);
    return new Answer.Json(
        requests instanceof Body.Batch ? array(responses) : responses.getFirst());
  }

  private List<byte[]> responses(List<Message> messages) {
    List<byte[]> responses = new ArrayList<>();
    for (Message message : messages) {
      switch (message) {
        case Message.Request request -> responses.add(answer(request));
        case Message.Notification notification -> accept(notification);
        case Message.Response response -> accept(response);
      }
    }
    return responses;
  }

  /** Opens all writers of the stream and registers all calls before it starts the first. */
  private Answer stream(List<Message> messages) {
    MessageQueue queue = new MessageQueue();
    List<RunningCall> calls = new ArrayList<>();
    for (Message message : messages) {
      switch (message) {
        case Message.Request call when isCall(call) -> prepare(call, queue).ifPresent(calls::add);
        case Message.Request request -> queue.add(answer(request));
        case Message.Notification notification -> accept(notification);
        case Message.Response response -> accept(response);
      }
    }
    calls.forEach(parts.threads()::start);
    return new Answer.Stream(new CallStream(queue, calls));
  }

  /** Returns a registered call, or answers it at once and returns nothing. */
  private Optional<RunningCall> prepare(Message.Request call, MessageQueue queue) {
    try {
      BoundTool<?> tool = parts.tools().find(toolName(call)).orElse(null);
      if (tool == null) {
        queue.add(
            Messages.error(
                call.id(), JsonRpcErrorCode.INVALID_PARAMS, "Unknown tool: " + toolName(call)));
        return Optional.empty();
      }
      ObjectNode arguments = Messages.objectOrEmpty(Messages.params(call), "arguments");
      return register(new RunningCall(caller, call, tool, arguments, parts, queue), queue);
    } catch (InvalidParamsException e) {
      queue.add(Messages.error(call.id(), e));
      return Optional.empty();
    }
  }

  private static String toolName(Message.Request call) {
    String name = call.toolName();
    if (name == null) {
      throw new InvalidParamsException("name must be a string");
    }
    return name;
  }

  private Optional<RunningCall> register(RunningCall call, MessageQueue queue) {
    return switch (parts.states().register(call)) {
      case DONE -> Optional.of(call);
      case ID_IN_USE -> {
        call.cancel();
        queue.add(
            Messages.error(
                call.id(), JsonRpcErrorCode.INVALID_REQUEST, "Invalid Request: the id is in use"));
        yield Optional.empty();
      }
      case CLOSED -> throw new UpstreamException.Unreachable(null);
    };
  }

  /** Answers a request that needs no tool. */
  private byte[] answer(Message.Request request) {
    try {
      return switch (request.method()) {
        case Methods.PING -> Messages.result(request.id(), _ -> {});
        case LOGGING_SET_LEVEL -> setLogLevel(request);
        case Methods.TOOLS_LIST -> parts.tools().list(Messages.firstPage(request));
        case String method when method.startsWith("resources/") ->
            parts.resources().answer(request);
        case String method when method.startsWith("prompts/") -> parts.prompts().answer(request);
        default -> JsonRpcErrors.error(request.id(), JsonRpcErrorCode.METHOD_NOT_FOUND);
      };
    } catch (InvalidParamsException e) {
      return Messages.error(request.id(), e);
    }
  }

  private byte[] setLogLevel(Message.Request request) {
    LogLevel level =
        LogLevel.parse(Messages.params(request).path("level").asText())
            .orElseThrow(() -> new InvalidParamsException("level must be a log level"));
    try {
      parts.levels().put(caller.session(), level);
    } catch (UpstreamException away) {
      // Not thrown: there may be calls in the same batch.
      return JsonRpcErrors.error(request.id(), JsonRpcErrorCode.INTERNAL_ERROR);
    }
    return Messages.result(request.id(), _ -> {});
  }

  /** {@inheritDoc} Ignored is all but a cancellation and an answer to what a call asks here. */
  @Override
  public void send(Body messages) {
    for (Message message : messages(messages)) {
      switch (message) {
        case Message.Notification notification -> accept(notification);
        case Message.Response response -> accept(response);
        case Message.Request _ -> {}
      }
    }
  }

  private void accept(Message.Response response) {
    parts.questions().answer(caller.session(), response);
  }

  /** Cancelling what has ended, or never was, is no mistake: the two may have crossed. */
  private void accept(Message.Notification notification) {
    RequestId id = notification.cancelledRequestId();
    RunningCall call = id == null ? null : parts.states().find(caller.session(), id);
    if (call != null) {
      call.cancel();
    }
  }

  /** {@inheritDoc} Always empty: this server never speaks unasked. */
  @Override
  public Optional<MessageSource> listen(@Nullable String after) {
    return Optional.empty();
  }

  /** {@inheritDoc} Always refused: this server gives its messages no ids. */
  @Override
  public MessageSource resume(String eventId) {
    throw new UpstreamException.Broken("a local call cannot be resumed", null);
  }

  /** {@inheritDoc} Cancels its calls on this replica; on others, their readers go away. */
  @Override
  public void end() {
    parts.states().end(caller.session()).forEach(RunningCall::cancel);
    parts.levels().remove(caller.session());
  }

  private static boolean isCall(Message message) {
    return message instanceof Message.Request request
        && request.method().equals(Methods.TOOLS_CALL);
  }

  private static List<Message> messages(Body body) {
    return switch (body) {
      case Body.Single(Message message) -> List.of(message);
      case Body.Batch(List<Message> messages, _) -> messages;
    };
  }

  private static byte[] array(List<byte[]> elements) {
    ByteArrayOutputStream array = new ByteArrayOutputStream();
    char before = '[';
    for (byte[] element : elements) {
      array.write(before);
      array.writeBytes(element);
      before = ',';
    }
    array.write(']');
    return array.toByteArray();
  }
}
