package dev.holdfast.session.memory;

import dev.holdfast.session.SessionStore;
import dev.holdfast.session.SessionStoreContract;
import java.time.Duration;
import java.time.Instant;

class MemorySessionStoreTest extends SessionStoreContract {

  private Instant now = Instant.EPOCH;

  @SuppressWarnings("NullAway.Init")
  private SessionStore store;

  @Override
  protected SessionStore create(Duration idleTimeout, int limit) {
    store = new MemorySessionStore(idleTimeout, limits(limit), () -> now);
    return store;
  }

  /** A store in memory has one view only. */
  @Override
  protected SessionStore another() {
    return store;
  }

  @Override
  protected void pass(Duration time) {
    now = now.plus(time);
  }
}
