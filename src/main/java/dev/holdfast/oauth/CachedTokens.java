package dev.holdfast.oauth;

import dev.holdfast.lock.AutoLock;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.function.Function;

/** A token for each of many, such as one for each token that was exchanged. Thread-safe. */
public final class CachedTokens {

  private final Function<String, CachedToken> source;
  private final int max;
  private final AutoLock lock = new AutoLock();

  /** The longest unused first. Guarded by the lock. */
  private final LinkedHashMap<String, CachedToken> tokens = new LinkedHashMap<>(16, 0.75f, true);

  /**
   * Keeps nothing yet.
   *
   * @param source creates the token for a key; requests nothing
   * @param max limit on the tokens. A further one replaces the longest unused
   */
  public CachedTokens(Function<String, CachedToken> source, int max) {
    this.source = source;
    this.max = max;
  }

  /** The token for a key. */
  public CachedToken of(String key) {
    try (var _ = lock.hold()) {
      CachedToken token = tokens.computeIfAbsent(key, source);
      if (tokens.size() > max) {
        tokens.pollFirstEntry();
      }
      return token;
    }
  }

  /** Gets no such token again: the server has refused it. */
  public void forget(String refused) {
    List<CachedToken> all;
    try (var _ = lock.hold()) {
      all = List.copyOf(tokens.values());
    }
    all.forEach(token -> token.forget(refused));
  }
}
