package dev.holdfast.intercept;

import java.util.Set;

/**
 * Judges each message between clients and servers. A CDI bean of this type joins the chain of every
 * upstream, ordered by its {@code @Priority}; the rules of the configuration follow.
 *
 * <p>Called by many threads at once, and also for a message that is sent again after a failure. May
 * block; the message waits meanwhile. If it throws, this message is refused, and no other.
 */
@FunctionalInterface
public interface Interceptor {

  /** Judges a message, as the interceptors before this one have left it. */
  Verdict judge(InterceptedMessage message);

  /** The scopes of clients that this interceptor asks for; it sees no others. */
  default Set<String> namedScopes() {
    return Set.of();
  }
}
