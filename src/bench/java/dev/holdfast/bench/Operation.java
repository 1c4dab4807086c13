package dev.holdfast.bench;

/** What a load does again and again, with the figures of what it costs once. */
enum Operation {
  /** A call that is answered with JSON. */
  CALL("call"),
  /** An event of a stream with a steady rate. */
  LIVE_EVENT("live event"),
  /** An event of a stream without a rate. */
  BURST_EVENT("burst event");

  private final String title;

  Operation(String title) {
    this.title = title;
  }

  /** CPU time of the contender, without its compiler threads. */
  Metric cpu() {
    return new Metric(title + ", CPU", Metric.Unit.MICROS);
  }

  /** CPU time of its compiler threads. */
  Metric compilers() {
    return new Metric(title + ", CPU of the JIT compiler", Metric.Unit.MICROS);
  }

  /** Context switches of the contender. */
  Metric switches() {
    return new Metric(title + ", context switches", Metric.Unit.FRACTION);
  }

  /** Allocated on the heap of the contender. */
  Metric allocated() {
    return new Metric(title + ", allocated", Metric.Unit.KILOBYTES);
  }

  /** CPU time of Redis. */
  Metric redisCpu() {
    return new Metric(title + ", CPU of Redis", Metric.Unit.MICROS);
  }

  /** Commands that Redis runs, within scripts too. */
  Metric redisCommands() {
    return new Metric(title + ", Redis commands", Metric.Unit.FRACTION);
  }
}
