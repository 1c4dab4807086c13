package dev.holdfast.oauth;

import java.time.Duration;

/**
 * An access token of type Bearer (RFC 6750).
 *
 * @param value what a request shows
 * @param lifetime time from its issue to its end
 */
public record AccessToken(String value, Duration lifetime) {

  /** Keeps the token out of logs. */
  @Override
  public String toString() {
    return "AccessToken[lifetime=" + lifetime + "]";
  }
}
