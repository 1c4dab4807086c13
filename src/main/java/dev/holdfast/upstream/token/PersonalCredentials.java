package dev.holdfast.upstream.token;

import dev.holdfast.budget.LogRate;
import dev.holdfast.oauth.AccessToken;
import dev.holdfast.oauth.SignInSettings;
import dev.holdfast.oauth.TokenException;
import dev.holdfast.oauth.UserTokens;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.http.ClientSession;
import dev.holdfast.upstream.http.Credentials;
import io.vertx.core.Vertx;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Access tokens of the person whose client uses the bridge; none for a server that asks for none.
 */
public final class PersonalCredentials implements Credentials {

  private static final Logger LOG = Logger.getLogger(PersonalCredentials.class);

  private final UserTokens tokens;
  private final LogRate rate = new LogRate(Duration.ofSeconds(1));

  /** Signs in when a token is first needed. */
  public PersonalCredentials(Vertx vertx, SignInSettings settings) {
    tokens = new UserTokens(vertx, settings);
  }

  /** Returns where tokens are kept: below the directory for the state of programs. */
  public static Path directory() {
    String state = System.getenv(isWindows() ? "LOCALAPPDATA" : "XDG_STATE_HOME");
    // XDG Base Directory Specification: relative paths are ignored.
    Path base =
        state != null && !state.isEmpty() && Path.of(state).isAbsolute()
            ? Path.of(state)
            : Path.of(System.getProperty("user.home", ""), ".local", "state");
    return base.resolve("holdfast");
  }

  private static boolean isWindows() {
    return System.getProperty("os.name", "").startsWith("Windows");
  }

  /** Asks the person only when the client asks: nobody may be there otherwise. */
  @Override
  public @Nullable String authorization(ClientSession caller, boolean asked) {
    try {
      Optional<AccessToken> token = tokens.get(asked);
      if (token.isEmpty() && tokens.areWanted()) {
        throw new UpstreamException.NoToken();
      }
      return token.map(AccessToken::value).map(PassedTokens::header).orElse(null);
    } catch (TokenException failure) {
      rate.log(LOG, Logger.Level.WARN, () -> "no access token reason=" + failure.getMessage());
      throw failure.isRefused()
          ? new UpstreamException.NoToken()
          : new UpstreamException.Unreachable(failure);
    }
  }

  @Override
  public boolean refused(
      ClientSession caller, @Nullable String authorization, List<String> challenges) {
    tokens.refuse(authorization == null ? null : PassedTokens.tokenIn(authorization), challenges);
    return true;
  }

  @Override
  public void close() {
    tokens.close();
  }
}
