package dev.holdfast.upstream.local;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Runs calls: each on a virtual thread of its own, except those that compute. A virtual thread that
 * computes keeps its carrier until it is done, and there are only as many carriers as processors:
 * those calls get platform threads, one fewer than processors.
 */
final class ToolThreads implements AutoCloseable {

  private static final int KEEP_ALIVE_SECONDS = 30;

  private final ThreadPoolExecutor cpuBound;

  ToolThreads() {
    int size = Math.max(1, Runtime.getRuntime().availableProcessors() - 1);
    cpuBound =
        new ThreadPoolExecutor(
            size,
            size,
            KEEP_ALIVE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            Thread.ofPlatform().daemon().name("holdfast-tool-cpu-", 0).factory(),
            // Only after close(), and by then the call was broken off.
            new ThreadPoolExecutor.DiscardPolicy());
    cpuBound.allowCoreThreadTimeOut(true);
  }

  void start(RunningCall call) {
    if (call.tool().cpuBound()) {
      cpuBound.execute(call.task());
    } else {
      Thread.ofVirtual().name("holdfast-tool-" + call.tool().name()).start(call.task());
    }
  }

  /** Drops what waits. Does not wait for what runs. */
  @Override
  public void close() {
    cpuBound.shutdownNow();
  }
}
