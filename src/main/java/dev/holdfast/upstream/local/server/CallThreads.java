package dev.holdfast.upstream.local.server;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Runs each call on a virtual thread of its own, except calls that compute. A computing virtual
 * thread keeps its carrier, and there is only one carrier per processor. Computing calls therefore
 * share platform threads, one fewer than there are processors.
 */
final class CallThreads implements AutoCloseable {

  private static final int KEEP_ALIVE_SECONDS = 30;

  private final ThreadPoolExecutor cpuBound;

  CallThreads() {
    int size = Math.max(1, Runtime.getRuntime().availableProcessors() - 1);
    cpuBound =
        new ThreadPoolExecutor(
            size,
            size,
            KEEP_ALIVE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            Thread.ofPlatform().daemon().name("holdfast-tool-cpu-", 0).factory(),
            // Only after close(), which has failed the call already.
            new ThreadPoolExecutor.DiscardPolicy());
    cpuBound.allowCoreThreadTimeOut(true);
  }

  void start(ToolRegistry.RegisteredTool<?> tool, Runnable call) {
    if (tool.cpuBound()) {
      cpuBound.execute(call);
    } else {
      Thread.ofVirtual().name("holdfast-tool-" + tool.name()).start(call);
    }
  }

  /** Drops waiting calls. Does not wait for running calls. */
  @Override
  public void close() {
    cpuBound.shutdownNow();
  }
}
