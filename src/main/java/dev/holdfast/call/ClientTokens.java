package dev.holdfast.call;

import dev.holdfast.lock.AutoLock;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The newest token that the client of each session has shown to this replica, for servers that get
 * it. Tokens are in memory only. Thread-safe.
 */
public final class ClientTokens {

  /** About what an entry takes besides its token. */
  private static final long ENTRY_BYTES = 256;

  private final long maxBytes;
  private final InstantSource clock;
  private final AutoLock lock = new AutoLock();

  /** By the gateway's id of the session; the one shown longest ago first. Guarded by the lock. */
  private final LinkedHashMap<String, ClientToken> bySession = new LinkedHashMap<>();

  /** Guarded by the lock. */
  private long bytes;

  /** Forgets the tokens that were shown longest ago when all take more than these bytes. */
  public ClientTokens(long maxBytes, InstantSource clock) {
    this.maxBytes = maxBytes;
    this.clock = clock;
  }

  /** Keeps a token that a client has shown. It replaces what the session had. */
  public void shown(String session, ClientToken token) {
    try (var _ = lock.hold()) {
      remove(session);
      bySession.put(session, token);
      bytes += size(session, token);
      while (!bySession.isEmpty() && isSurplus(bySession.firstEntry())) {
        remove(bySession.firstEntry().getKey());
      }
    }
  }

  private boolean isSurplus(Map.Entry<String, ClientToken> eldest) {
    return bytes > maxBytes || eldest.getValue().hasExpired(clock.instant());
  }

  /** The newest token of a session; empty if there is none that may still be valid. */
  public Optional<ClientToken> newest(String session) {
    try (var _ = lock.hold()) {
      return Optional.ofNullable(bySession.get(session))
          .filter(token -> !token.hasExpired(clock.instant()));
    }
  }

  /** Forgets a token that a server has refused, until its client shows it again. */
  public void refused(String session, String token) {
    try (var _ = lock.hold()) {
      ClientToken known = bySession.get(session);
      if (known != null && known.value().equals(token)) {
        remove(session);
      }
    }
  }

  /** Forgets the token of a session that has ended. */
  public void forget(String session) {
    try (var _ = lock.hold()) {
      remove(session);
    }
  }

  private void remove(String session) {
    ClientToken token = bySession.remove(session);
    bytes -= token == null ? 0 : size(session, token);
  }

  private static long size(String session, ClientToken token) {
    return ENTRY_BYTES + session.length() + token.value().length();
  }
}
