package dev.holdfast.session;

import java.util.Map;

/**
 * The contract of {@link SessionStore}. Every adapter's test extends it. The tests are in the
 * interfaces, by subject.
 */
public abstract class SessionStoreContract
    implements SessionStoreLifecycleContract,
        SessionStoreLimitContract,
        SessionStoreExpiryContract,
        SessionStoreListContract {

  /**
   * Creates limits.
   *
   * @param all maximum number of sessions, of which one may be of {@link #NARROW}
   */
  protected static SessionLimits limits(int all) {
    return new SessionLimits(all, PER_OPENER, Map.of(NARROW, 1));
  }
}
