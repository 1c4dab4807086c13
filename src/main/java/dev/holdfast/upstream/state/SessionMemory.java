package dev.holdfast.upstream.state;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.call.SessionId;
import dev.holdfast.protocol.LogLevels;
import dev.holdfast.retry.Backoff;
import dev.holdfast.session.SessionStore;
import dev.holdfast.session.SessionStoreException;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Values that requests of a session have set, for all replicas and as long as the session lives.
 *
 * @param session null before the gateway has recorded the session, and for what is not kept
 * @param member as in {@link UpstreamLink}: each server of a session has values of its own
 */
public record SessionMemory(SessionStore store, @Nullable SessionId session, String member) {

  /** Name of the {@code initialize} request of the session, which its servers share. */
  public static final String INITIALIZE = "initialize";

  /** Name of the log level that the client has set. */
  public static final String LOG_LEVEL = "log-level";

  /** Name of the list of resources to which the client has subscribed. */
  public static final String RESOURCES = "resources";

  /** Each attempt but the last fails since another one succeeds. */
  private static final int MAX_ATTEMPTS = 100;

  /** The memory of the session to which a link leads. */
  public static SessionMemory of(SessionStore store, UpstreamLink link) {
    SessionId session =
        Optional.ofNullable(link.gatewaySession()).flatMap(SessionId::parse).orElse(null);
    return new SessionMemory(store, session, link.member());
  }

  /** The memory of requests that keep nothing. */
  public SessionMemory none() {
    return new SessionMemory(store, null, member);
  }

  private String key(String name) {
    return member.isEmpty() ? name : member + " " + name;
  }

  /**
   * Returns a value; empty if there is none.
   *
   * @throws SessionStoreException while the store is away
   */
  public Optional<String> find(String name) {
    return Optional.ofNullable(read(name));
  }

  /**
   * Returns a value as {@link #find} does. Waits while the store is away.
   *
   * @throws UpstreamException if the wait is interrupted
   */
  public Optional<String> await(String name) {
    for (Backoff retry = Backoff.STORE; ; retry = retry.next()) {
      try {
        return find(name);
      } catch (SessionStoreException away) {
        pause(retry.delay());
      }
    }
  }

  private static void pause(Duration delay) {
    try {
      Thread.sleep(delay);
    } catch (InterruptedException e) {
      throw UpstreamException.Broken.interrupted(e);
    }
  }

  /** Returns the log level of the session; the default while the store is away. */
  public String logLevel() {
    try {
      return find(LOG_LEVEL).orElse(LogLevels.DEFAULT);
    } catch (SessionStoreException away) {
      return LogLevels.DEFAULT;
    }
  }

  private @Nullable String read(String name) {
    return session == null
        ? null
        : store
            .upstreamState(session, key(name))
            .map(value -> new String(value, UTF_8))
            .orElse(null);
  }

  /** Returns whether the value is saved. */
  public boolean save(String name, String value) {
    try {
      if (session != null) {
        store.saveUpstreamState(session, key(name), value.getBytes(UTF_8));
      }
      return session != null;
    } catch (SessionStoreException away) {
      return false;
    }
  }

  /**
   * Changes a value, whatever other replicas do at the same time.
   *
   * @param change gets the value, null for none, and returns the new one, null to remove it. May
   *     run several times
   * @return the value before; null for none
   * @throws SessionStoreException while the store is away
   */
  public @Nullable String change(String name, UnaryOperator<@Nullable String> change) {
    for (int i = 0; session != null && i < MAX_ATTEMPTS; i++) {
      String before = read(name);
      String after = change.apply(before);
      if (Objects.equals(before, after)
          || store.replaceUpstreamState(session, key(name), bytes(before), bytes(after))) {
        return before;
      }
    }
    throw new SessionStoreException(null);
  }

  private static byte @Nullable [] bytes(@Nullable String value) {
    return value == null ? null : value.getBytes(UTF_8);
  }
}
