package dev.holdfast.bench;

import java.io.IOException;
import java.net.URI;

/**
 * One client that reads streams again from their start, one after the other.
 *
 * @param events how many notifications a stream has
 * @param times how many streams
 */
record ReplayLoad(int events, int times) {

  /**
   * Runs it.
   *
   * @param writer the replica that writes the streams
   * @param reader the one that is asked for them again
   * @return the times from opening the connection to the last event
   */
  Samples run(URI writer, URI reader) throws IOException {
    Samples replays = new Samples();
    for (int i = 0; i < times; i++) {
      try (McpSession session = McpSession.open(writer, "")) {
        BurstCheck live = new BurstCheck(events);
        session.call("burst", BurstLoad.arguments(events, 0), live);
        live.requireComplete();
        BurstCheck again = new BurstCheck(events);
        long begin = System.nanoTime();
        session.resume(reader, session.firstEventId(), again);
        again.requireComplete();
        replays.add(again.completeAt() - begin);
      }
    }
    return replays;
  }
}
