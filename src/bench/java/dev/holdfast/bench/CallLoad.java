package dev.holdfast.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;

/**
 * Sessions that call the tool {@code echo}, each call after the one before.
 *
 * @param sessions how many
 * @param time for how long
 * @param inSessions false for clients of 2026-07-28, which have no session
 */
record CallLoad(int sessions, Duration time, boolean inSessions) {

  private static final JsonNumber ID = new JsonNumber("id");

  /**
   * What came out.
   *
   * @param perSecond how many calls were answered per second, all sessions together
   * @param times how long each took
   */
  record Outcome(double perSecond, Samples times) {}

  CallLoad(int sessions, Duration time) {
    this(sessions, time, true);
  }

  /** The same for another time. */
  CallLoad lasting(Duration other) {
    return new CallLoad(sessions, other, inSessions);
  }

  /** Runs it. The meter measures it without the opening of the sessions. */
  Outcome run(URI url, CostMeter meter) {
    return run(url, "", meter::start, meter::stop);
  }

  /**
   * Runs it.
   *
   * @param more headers of each request
   * @param started runs before the first call
   * @param stopped runs after the last one
   */
  Outcome run(URI url, String more, Runnable started, Runnable stopped) {
    try (ConcurrentSessions crowd = ConcurrentSessions.open(url, more, sessions, inSessions)) {
      started.run();
      long begin = System.nanoTime();
      long end = begin + time.toNanos();
      List<Samples> each =
          crowd.together(session -> {
            Samples times = new Samples();
            for (long now = System.nanoTime(); now < end; ) {
              call(session);
              long answered = System.nanoTime();
              times.add(answered - now);
              now = answered;
            }
            return times;
          });
      double seconds = (System.nanoTime() - begin) / 1e9;
      stopped.run();
      Samples all = new Samples();
      each.forEach(all::addAll);
      return new Outcome(all.size() / seconds, all);
    }
  }

  private static void call(McpSession session) throws IOException {
    Answer answer = new Answer();
    int id = session.call("echo", "{\"message\":\"hello\"}", answer);
    if (answer.messages != 1 || answer.id != id || !answer.text.contains("\"result\"")) {
      throw new WrongResultException(
          "call %d got %d messages, the last: %s".formatted(id, answer.messages, answer.text));
    }
  }

  private static final class Answer implements Sink {

    private int messages;
    private long id;
    private String text = "";

    @Override
    public void take(byte[] array, int offset, int length) {
      messages++;
      id = ID.in(array, offset, length);
      text = new String(array, offset, length, UTF_8);
    }
  }
}
