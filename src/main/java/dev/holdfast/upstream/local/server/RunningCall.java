package dev.holdfast.upstream.local.server;

import dev.holdfast.upstream.MessageQueue;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.local.registry.RegisteredTool;
import java.util.concurrent.FutureTask;

/**
 * A tool call that runs or waits for a thread.
 *
 * <p>A {@link FutureTask} interrupts its thread only while it runs the task. The interrupt cannot
 * hit the next call on the same thread.
 *
 * @param out writer of the call; identifies it
 */
record RunningCall(
    RegisteredTool<?> tool, FutureTask<?> task, MessageQueue queue, MessageQueue.Writer out) {

  /** Drops the response unless it was sent, and interrupts the tool. */
  void cancel() {
    out.abandon();
    task.cancel(true);
  }

  /** Fails the stream of the call, and interrupts the tool. */
  void fail() {
    queue.fail(new UpstreamException.Broken("the local server was closed during the call", null));
    task.cancel(true);
  }
}
