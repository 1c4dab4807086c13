package dev.holdfast.call;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The access token of a client, after the gateway has checked it. It is kept in memory only.
 *
 * @param value what the client has sent
 * @param expires when it is no longer valid; null if it does not say
 */
public record ClientToken(String value, @Nullable Instant expires) {

  /** Returns true if it is no longer valid at that time. */
  public boolean hasExpired(Instant now) {
    return expires != null && !now.isBefore(expires);
  }

  /** Keeps the token out of logs. */
  @Override
  public String toString() {
    return "ClientToken[expires=" + expires + "]";
  }
}
