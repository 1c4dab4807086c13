package dev.holdfast.upstream.local.server;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.upstream.MessageQueue;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.local.json.RequestException;
import dev.holdfast.upstream.local.json.RequestParams;
import dev.holdfast.upstream.local.logging.LogFilter;
import dev.holdfast.upstream.local.logging.LogLevelStore;
import dev.holdfast.upstream.local.registry.RegisteredTool;
import dev.holdfast.upstream.local.registry.ToolRegistry;
import java.util.Map;
import java.util.concurrent.FutureTask;

/** The tool calls of this replica, and their requests to clients. Thread-safe. */
final class ToolCalls implements AutoCloseable {

  private final ToolRegistry tools;
  private final LogLevelStore levels;
  private final RunningCalls running = new RunningCalls();
  private final ClientRequests clientRequests = new ClientRequests();
  private final CallThreads threads = new CallThreads();

  ToolCalls(ToolRegistry tools, LogLevelStore levels) {
    this.tools = tools;
    this.levels = levels;
  }

  /**
   * Registers a call. From now on it can be cancelled.
   *
   * @param queue gets the messages of the call
   * @throws RequestException if the request is no valid call, or its id is in use
   * @throws UpstreamException.Unreachable after {@link #close()}
   */
  RunningCall register(LocalSessionId session, Message.Request request, MessageQueue queue) {
    RegisteredTool<?> tool = tool(request);
    ObjectNode arguments = RequestParams.object(RequestParams.of(request), "arguments");
    MessageQueue.Writer out = queue.newWriter();
    Runnable onEnd = () -> running.remove(session, request.id(), out);
    ToolCallTask task =
        new ToolCallTask(
            request,
            tool,
            arguments,
            out,
            new CallClient(session, clientRequests, out),
            new LogFilter(levels, session.name()),
            onEnd);
    RunningCall call = new RunningCall(tool, new FutureTask<>(task, null), queue, out, onEnd);
    if (!running.add(session, request.id(), call)) {
      out.abandon();
      throw error(JsonRpcErrorCode.INVALID_REQUEST, "Invalid Request: the id is in use");
    }
    return call;
  }

  private RegisteredTool<?> tool(Message.Request request) {
    String name = request.toolName();
    if (name == null) {
      throw RequestException.invalidParams("name must be a string");
    }
    return tools
        .find(name)
        .orElseThrow(() -> error(JsonRpcErrorCode.INVALID_PARAMS, "Unknown tool: " + name));
  }

  private static RequestException error(JsonRpcErrorCode code, String text) {
    return new RequestException(code.code(), text, Map.of());
  }

  /** Starts a registered call, unless it was cancelled. */
  void start(RunningCall call) {
    threads.start(call.tool(), call.task());
  }

  /** Cancels a call. Ignores an unknown id: the call may just have ended. */
  void cancel(LocalSessionId session, RequestId id) {
    running.find(session, id).ifPresent(RunningCall::cancel);
  }

  /** Passes a client's response to the call that waits for it. */
  void complete(LocalSessionId session, Message.Response response) {
    clientRequests.complete(session, response);
  }

  /** Cancels all calls of a session. */
  void cancelAll(LocalSessionId session) {
    running.removeAll(session).forEach(RunningCall::cancel);
  }

  /**
   * @throws UpstreamException.Unreachable after {@link #close()}
   */
  void requireOpen() {
    running.requireOpen();
  }

  /** Refuses further calls and fails those that run. Does not wait for their tools. */
  @Override
  public void close() {
    running.close().forEach(RunningCall::fail);
    threads.close();
  }
}
