package dev.holdfast.bench;

import dev.holdfast.testing.Gateway;
import java.io.IOException;
import java.util.List;

/**
 * Sessions that each hold their standalone stream open, on which nothing happens.
 *
 * @param streams how many
 */
record IdleLoad(int streams) {

  private static final double KILO = 1000;

  /**
   * What a stream, with the session and the connections that belong to it, takes.
   *
   * @param rss kB of the process, from before the first stream on: what the JVM learns and keeps
   *     meanwhile is in it, and what garbage there is
   * @param heap kB of objects, which are free again when the streams are closed
   */
  record Outcome(double rss, double heap) {}

  /** Runs it on a gateway that nobody has used yet. */
  Outcome run(Gateway gateway) throws IOException, InterruptedException {
    ProcessMemory memory = new ProcessMemory(gateway);
    long before = memory.settledRss();
    long open;
    long heap;
    try (ConcurrentSessions crowd = ConcurrentSessions.open(gateway.url(), streams)) {
      List<HttpConnection> listening = crowd.gradually(McpSession::listen);
      open = memory.settledRss();
      heap = memory.liveHeap();
      for (HttpConnection connection : listening) {
        connection.close();
      }
    }
    memory.settledRss();
    long closed = memory.liveHeap();
    return new Outcome((open - before) / KILO / streams, (heap - closed) / KILO / streams);
  }
}
