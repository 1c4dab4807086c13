package dev.holdfast.upstream.local.server;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.upstream.MessageQueue;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.local.server.ToolCallTask.CallId;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** The running tool calls of this replica, and their requests to clients. Thread-safe. */
final class ToolCalls implements AutoCloseable {

  private final LogLevelStore levels;
  private final ClientRequests clientRequests = new ClientRequests();

  /** Bytes of messages that wait for the readers of their calls, and of calls that run. */
  private final ByteBudget held;

  private final int maxMessageBytes;

  private final ComputeQueue computing;
  private final ConcurrentMap<CallId, ToolCallTask> running = new ConcurrentHashMap<>();
  private volatile boolean closed;

  ToolCalls(LogLevelStore levels, int maxMessageBytes, ByteBudget held, int computeThreads) {
    this.computing = new ComputeQueue(computeThreads);
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
  ToolCallTask register(
      LocalSessionId session, Message.Request request, Callee callee, MessageQueue queue) {
    ByteBudget.Claim bytes = held.newClaim();
    if (!bytes.set(request.bytes().length)) {
      throw new UpstreamException.Busy();
    }
    ToolCallTask call;
    try {
      call =
          new ToolCallTask(
              session,
              request,
              callee,
              queue,
              clientRequests,
              levels,
              maxMessageBytes,
              ended -> {
                bytes.close();
                running.remove(ended.id(), ended); // A later call may already use the id.
              });
    } catch (Throwable invalid) {
      bytes.close();
      throw invalid;
    }
    if (running.putIfAbsent(call.id(), call) != null) {
      call.cancel();
      throw new RequestException(
          JsonRpcErrorCode.INVALID_REQUEST, "Invalid Request: the id is in use");
    }
    if (closed) {
      // close() may have missed this call.
      call.cancel();
      throw new UpstreamException.Unreachable(null);
    }
    return call;
  }

  /** Starts a registered call. */
  void start(ToolCallTask call) {
    call.start(computing);
  }

  /** Cancels a call. Ignores an unknown id: the call may just have ended. */
  void cancel(LocalSessionId session, RequestId request) {
    ToolCallTask call = running.get(new CallId(session, request));
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
    running.values().forEach(ToolCallTask::fail);
    running.clear();
  }
}
