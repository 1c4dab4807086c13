package dev.holdfast.upstream.local.server;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.budget.ByteBudget;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.upstream.MessageQueue;
import dev.holdfast.upstream.UpstreamException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.FutureTask;

/** The running tool calls of this replica, and their requests to clients. Thread-safe. */
final class ToolCalls implements AutoCloseable {

  /** Comparable so that a map stays fast when a client chooses ids with equal hashes. */
  record CallId(LocalSessionId session, RequestId request) implements Comparable<CallId> {
    @Override
    public int compareTo(CallId other) {
      int bySession = session.name().compareTo(other.session.name());
      return bySession != 0 ? bySession : request.compareTo(other.request);
    }
  }

  private final ToolRegistry tools;
  private final LogLevelStore levels;
  private final ClientRequests clientRequests = new ClientRequests();

  /** Bytes of messages that wait for the readers of their calls. */
  private final ByteBudget held;

  private final int maxMessageBytes;

  private final ComputeQueue computing = new ComputeQueue();
  private final ConcurrentMap<CallId, RunningCall> running = new ConcurrentHashMap<>();
  private volatile boolean closed;

  ToolCalls(ToolRegistry tools, LogLevelStore levels, int maxMessageBytes, ByteBudget held) {
    this.tools = tools;
    this.levels = levels;
    this.maxMessageBytes = maxMessageBytes;
    this.held = held;
  }

  int maxMessageBytes() {
    return maxMessageBytes;
  }

  ByteBudget held() {
    return held;
  }

  /** Registers a call. From now on it can be cancelled. The queue gets its messages. */
  RunningCall register(LocalSessionId session, Message.Request request, MessageQueue queue) {
    ToolRegistry.RegisteredTool<?> tool = tool(request);
    ObjectNode arguments = Json.member(Json.params(request), "arguments");
    CallId id = new CallId(session, request.id());
    MessageQueue.Writer out = queue.newWriter(writer -> remove(id, writer));
    ToolCallTask task =
        new ToolCallTask(
            request,
            tool,
            arguments,
            out,
            new CallClient(session, clientRequests, out),
            new ToolCallTask.LogFilter(levels, session.name()),
            maxMessageBytes);
    RunningCall call =
        new RunningCall(id, tool, request.bytes().length, new FutureTask<>(task, null), queue, out);
    if (running.putIfAbsent(id, call) != null) {
      out.abandon();
      throw new RequestException(
          JsonRpcErrorCode.INVALID_REQUEST, "Invalid Request: the id is in use");
    }
    if (closed) {
      // close() may have missed this call.
      out.abandon();
      throw new UpstreamException.Unreachable(null);
    }
    return call;
  }

  /** A later call may already use the id; the writer tells the calls apart. */
  private void remove(CallId id, MessageQueue.Writer out) {
    running.computeIfPresent(id, (_, call) -> call.out() == out ? null : call);
  }

  private ToolRegistry.RegisteredTool<?> tool(Message.Request request) {
    String name = request.toolName();
    if (name == null) {
      throw RequestException.invalidParams("name must be a string");
    }
    return tools
        .find(name)
        .orElseThrow(
            () -> new RequestException(JsonRpcErrorCode.INVALID_PARAMS, "Unknown tool: " + name));
  }

  /** Starts a registered call, unless it was cancelled. Refuses it if too many calls compute. */
  void start(RunningCall call) {
    if (!call.tool().cpuBound()) {
      Thread.ofVirtual().name("holdfast-tool-" + call.tool().name()).start(call.task());
    } else if (!computing.start(call.id().session().name(), call.task(), call.bytes())) {
      call.refuse();
    }
  }

  /** Cancels a call. Ignores an unknown id: the call may just have ended. */
  void cancel(LocalSessionId session, RequestId request) {
    RunningCall call = running.get(new CallId(session, request));
    if (call != null) {
      call.cancel();
    }
  }

  void complete(LocalSessionId session, Message.Response response) {
    clientRequests.complete(session, response);
  }

  void cancelAll(LocalSessionId session) {
    running.forEach((id, call) -> {
      if (id.session().equals(session)) {
        call.cancel();
      }
    });
  }

  void requireOpen() {
    if (closed) {
      throw new UpstreamException.Unreachable(null);
    }
  }

  /** Refuses further calls and fails those that run. Does not wait for their tools. */
  @Override
  public void close() {
    closed = true;
    running.values().forEach(RunningCall::fail);
    running.clear();
  }

  /**
   * A tool call that runs or waits for a thread; its writer identifies it. A {@link FutureTask}
   * interrupts its thread only while it runs the task. The interrupt cannot hit the next call on
   * the same thread.
   */
  record RunningCall(
      CallId id,
      ToolRegistry.RegisteredTool<?> tool,
      int bytes,
      FutureTask<?> task,
      MessageQueue queue,
      MessageQueue.Writer out) {

    /** Drops the response unless it was sent, and interrupts the tool. */
    void cancel() {
      out.abandon();
      task.cancel(true);
    }

    /** Also works before the queue has a reader. */
    void refuse() {
      queue.add(
          JsonRpcErrors.error(
              id.request(),
              JsonRpcErrorCode.SERVER_ERROR,
              "Too many calls wait for a processor; try again later"));
      cancel();
    }

    void fail() {
      queue.fail(new UpstreamException.Broken("the local server was closed during the call", null));
      task.cancel(true);
    }
  }
}
