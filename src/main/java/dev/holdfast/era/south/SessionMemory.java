package dev.holdfast.era.south;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.call.SessionId;
import dev.holdfast.session.SessionStore;
import dev.holdfast.session.SessionStoreException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Values that requests of a session have set, for all replicas and as long as the session lives.
 *
 * @param session null before the gateway has recorded the session
 */
record SessionMemory(SessionStore store, @Nullable SessionId session) {

  static final String LOG_LEVEL = "log-level";
  static final String RESOURCES = "resources";

  /** Returns a value; empty if there is none, or while the store is away. */
  Optional<String> find(String name) {
    try {
      return session == null
          ? Optional.empty()
          : store.upstreamState(session, name).map(value -> new String(value, UTF_8));
    } catch (SessionStoreException away) {
      return Optional.empty();
    }
  }

  /** Returns whether the value is saved. */
  boolean save(String name, String value) {
    try {
      if (session != null) {
        store.saveUpstreamState(session, name, value.getBytes(UTF_8));
      }
      return session != null;
    } catch (SessionStoreException away) {
      return false;
    }
  }
}
