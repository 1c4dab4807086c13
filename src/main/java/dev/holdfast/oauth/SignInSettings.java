package dev.holdfast.oauth;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Settings for the sign-in of a person at a server.
 *
 * @param server URL of its MCP endpoint
 * @param clientId id of this program at the authorization server; null to be registered (RFC 7591)
 * @param clientSecret with it, the program gets tokens for itself (RFC 6749, section 4.4), and no
 *     person signs in; null for none
 * @param scope scopes to ask for, with spaces between; null for those that the server names
 * @param opensBrowser whether to open the page. Its URL is logged in any case
 * @param timeout time limit for the person
 */
public record SignInSettings(
    URI server,
    @Nullable String clientId,
    @Nullable String clientSecret,
    @Nullable String scope,
    Path directory,
    boolean opensBrowser,
    Duration timeout) {

  /** Leaves out the secret. */
  @Override
  public String toString() {
    return "SignInSettings[server=" + server + "]";
  }
}
