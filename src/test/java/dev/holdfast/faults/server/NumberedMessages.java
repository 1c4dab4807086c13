package dev.holdfast.faults.server;

import java.util.List;

/**
 * Numbered messages, from 1 on, of which each falls due at its time whether anybody reads it or
 * not. Nothing is stored: what the past has brought is computed.
 */
sealed interface NumberedMessages {

  /** When a message is sent, by {@link #now()}. */
  long due(int number);

  /** A message. */
  String message(int number);

  /** The id of the event of a message; with number 0, of the one that stands before all. */
  String id(int number);

  /** Whether no message follows this one. */
  boolean isLast(int number);

  /** Milliseconds of the monotonic clock. */
  static long now() {
    return System.nanoTime() / 1_000_000;
  }

  /** The number of the first message that is not due yet. */
  int next();

  /**
   * A tool call that counts: its progress, and then its result.
   *
   * @param request the raw JSON of the request's id
   * @param steps how many progress notifications there are
   * @param interval milliseconds from one to the next
   * @param payload bytes of filling in each
   * @param start when it began
   */
  record Count(String request, int steps, int interval, int payload, long start)
      implements NumberedMessages {

    @Override
    public long due(int number) {
      return start + (long) Math.min(number, steps) * interval;
    }

    @Override
    public String message(int number) {
      if (number > steps) {
        return "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":%s}}"
            .formatted(request, CountingServer.counted(steps));
      }
      return """
      {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,\
      "progress":%d,"message":"%s"}}\
      """
          .formatted(request, number, "x".repeat(payload));
    }

    @Override
    public String id(int number) {
      return "c:%d:%d:%d:%d:%d:%s".formatted(number, steps, interval, payload, start, request);
    }

    @Override
    public boolean isLast(int number) {
      return number > steps;
    }

    @Override
    public int next() {
      return (int) Math.min(steps + 1L, (now() - start) / interval + 1);
    }
  }

  /**
   * What the server says unasked.
   *
   * @param start when it began
   * @param interval milliseconds from one message to the next
   */
  record Ticks(long start, int interval) implements NumberedMessages {

    @Override
    public long due(int number) {
      return start + (long) number * interval;
    }

    @Override
    public String message(int number) {
      return """
      {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info",\
      "data":{"progress":%d}}}\
      """
          .formatted(number);
    }

    @Override
    public String id(int number) {
      return "t:%d:%d:%d".formatted(number, start, interval);
    }

    @Override
    public boolean isLast(int number) {
      return false;
    }

    @Override
    public int next() {
      return (int) ((now() - start) / interval + 1);
    }
  }

  /**
   * A feed, and how far somebody has read it.
   *
   * @param seen the number of the last message seen
   */
  record Place(NumberedMessages feed, int seen) {}

  /** The place that an event id names. */
  static Place after(String eventId) {
    List<String> parts = List.of(eventId.split(":", 7));
    int seen = Integer.parseInt(parts.get(1));
    if (parts.getFirst().equals("t")) {
      return new Place(
          new Ticks(Long.parseLong(parts.get(2)), Integer.parseInt(parts.get(3))), seen);
    }
    Count count =
        new Count(
            parts.get(6),
            Integer.parseInt(parts.get(2)),
            Integer.parseInt(parts.get(3)),
            Integer.parseInt(parts.get(4)),
            Long.parseLong(parts.get(5)));
    return new Place(count, seen);
  }
}
