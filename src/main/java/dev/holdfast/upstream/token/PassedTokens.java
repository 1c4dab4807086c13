package dev.holdfast.upstream.token;

import dev.holdfast.call.ClientToken;
import dev.holdfast.call.ClientTokens;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.http.ClientSession;
import dev.holdfast.upstream.http.Credentials;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The access tokens of clients, which go to the server as they are. */
public record PassedTokens(ClientTokens tokens) implements Credentials {

  /** RFC 6750, section 2.1. */
  private static final String SCHEME = "Bearer ";

  /** Returns the value of {@code Authorization} with a token. */
  static String header(String token) {
    return SCHEME + token;
  }

  /** Returns the token in a value of {@link #header}. */
  static String tokenIn(String header) {
    return header.substring(SCHEME.length());
  }

  /**
   * The token for a request of a client; see {@link Credentials#authorization(ClientSession,
   * boolean)}.
   */
  static ClientToken of(ClientSession caller, boolean asked, ClientTokens tokens) {
    String session = caller.session();
    ClientToken own = caller.token();
    if (own != null && (asked || session == null) && !own.hasExpired(Instant.now())) {
      return own;
    }
    if (session == null) {
      throw new UpstreamException.NoToken();
    }
    return tokens.newest(session).orElseThrow(UpstreamException.NoToken::new);
  }

  @Override
  public String authorization(ClientSession caller, boolean asked) {
    return header(of(caller, asked, tokens).value());
  }

  @Override
  public boolean refused(
      ClientSession caller, @Nullable String authorization, List<String> challenges) {
    String session = caller.session();
    if (session != null && authorization != null) {
      tokens.refused(session, tokenIn(authorization));
    }
    return false;
  }

  @Override
  public boolean needClientToken() {
    return true;
  }

  @Override
  public boolean areOfClient() {
    return true;
  }
}
