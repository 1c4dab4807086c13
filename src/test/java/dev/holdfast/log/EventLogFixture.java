package dev.holdfast.log;

import java.time.Duration;

/** What the parts of the {@link EventLogContract} use. */
interface EventLogFixture {

  /** A log in which the session of {@link #ref} has begun, and nothing expires soon. */
  EventLog log();

  /** Replaces {@link #log}. */
  void useLog(EventLog other);

  /** A stream that is not open yet, in a session that has begun. */
  StreamRef ref();

  /** Creates a log in which the session of {@link #ref} has begun. It is closed after the test. */
  EventLog begun(Retention retention);

  /** The same store as another replica sees it; the log itself if the store has one replica. */
  EventLog elsewhere(EventLog log, Retention retention);

  /** Advances a simulated clock. With a real clock, the tests wait for what they expect. */
  void pass(Duration time);

  /** Most events beyond its maximum that a stream may keep. */
  int trimmingStep();
}
