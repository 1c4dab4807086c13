package dev.holdfast.oauth;

import dev.holdfast.lock.LruMap;
import java.util.function.Function;

/** A token for each of many, such as one for each token that was exchanged. Thread-safe. */
public final class CachedTokens {

  private final Function<String, CachedToken> source;
  private final LruMap<String, CachedToken> tokens;

  /**
   * Keeps nothing yet.
   *
   * @param source creates the token for a key; requests nothing
   * @param max limit on the tokens. A further one replaces the longest unused
   */
  public CachedTokens(Function<String, CachedToken> source, int max) {
    this.source = source;
    tokens = new LruMap<>(max);
  }

  /** The token for a key. */
  public CachedToken of(String key) {
    return tokens.computeIfAbsent(key, source);
  }

  /** Gets no such token again: the server has refused it. */
  public void forget(String refused) {
    tokens.values().forEach(token -> token.forget(refused));
  }
}
