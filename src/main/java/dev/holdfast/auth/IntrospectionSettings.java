package dev.holdfast.auth;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * How to ask an authorization server about tokens.
 *
 * @param endpoint where; null for the one in the metadata of the server
 * @param clientId id of the gateway at the server
 * @param clientSecret proves the id
 * @param all whether to ask about JSON Web Tokens, too
 */
public record IntrospectionSettings(
    @Nullable URI endpoint, String clientId, String clientSecret, boolean all) {

  /** Keeps the secret out of logs. */
  @Override
  public String toString() {
    return "IntrospectionSettings[endpoint=" + endpoint + ", clientId=" + clientId + "]";
  }
}
