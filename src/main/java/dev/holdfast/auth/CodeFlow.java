package dev.holdfast.auth;

import dev.holdfast.call.Principal;
import dev.holdfast.oauth.CodeRequest;
import dev.holdfast.oauth.JsonHttp;
import dev.holdfast.oauth.TokenEndpoint;
import dev.holdfast.oauth.TokenException;
import java.net.URI;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jose4j.jwt.JwtClaims;
import org.jose4j.jwt.MalformedClaimException;
import org.jspecify.annotations.Nullable;

/**
 * Sign-in of people at an OpenID provider: the authorization code flow with PKCE (OpenID Connect
 * Core 1.0, section 3.1; RFC 7636). Thread-safe. Methods may wait for the provider.
 */
public final class CodeFlow {

  private final TokenIssuer issuer;
  private final IssuerMetadata metadata;
  private final Client client;

  /**
   * The gateway as a client of the provider.
   *
   * @param secret null for a client without one
   * @param redirect where the provider sends the browser back to
   * @param scopes the scopes to ask for, with spaces between
   * @param claim the claim of the ID token that names what a person may do; null for the scopes
   *     that the provider has granted
   */
  public record Client(
      String id, @Nullable String secret, URI redirect, String scopes, @Nullable String claim) {

    /** Omits the secret. */
    @Override
    public String toString() {
      return "Client[id=" + id + "]";
    }
  }

  /**
   * Secrets of one sign-in, which the browser keeps for the gateway.
   *
   * @param state links the answer to the browser that began
   * @param nonce links the ID token to the sign-in
   * @param verifier proves that the gateway has begun it
   */
  public record Attempt(String state, String nonce, String verifier) {

    /** New secrets of 256 bits each. */
    public static Attempt random() {
      return new Attempt(CodeRequest.random(), CodeRequest.random(), CodeRequest.random());
    }

    /** Omits the secrets. */
    @Override
    public String toString() {
      return "Attempt[…]";
    }
  }

  /**
   * A person who has signed in.
   *
   * @param names scopes, or values of the claim
   */
  public record Person(Principal principal, Set<String> names) {

    /** Copies the names. */
    public Person {
      names = Set.copyOf(names);
    }
  }

  /** Creates the sign-in at a provider. Reads nothing yet. */
  public CodeFlow(TokenIssuer issuer, Client client) {
    this.issuer = issuer;
    this.metadata = issuer.metadata();
    this.client = client;
  }

  /**
   * Returns the page of the provider where a person signs in.
   *
   * @throws TokenRefusedException.IssuerAway when the metadata of the provider cannot be read
   */
  public URI page(Attempt attempt) {
    return request(attempt)
        .page(
            metadata.location("authorization_endpoint"),
            Map.of("scope", client.scopes(), "nonce", attempt.nonce()));
  }

  private CodeRequest request(Attempt attempt) {
    return new CodeRequest(client.id(), client.redirect(), attempt.state(), attempt.verifier());
  }

  /**
   * Exchanges the code in the answer of the provider.
   *
   * @param answer the parameters with which the browser came back
   * @throws TokenRefusedException.Invalid when the answer does not belong to the attempt, or the
   *     provider refuses
   * @throws TokenRefusedException.IssuerAway when the provider does not answer
   */
  public Person finish(Attempt attempt, Map<String, String> answer) {
    // RFC 9207: an answer of another provider would send the code to the wrong one.
    String named = answer.get("iss");
    if (!attempt.state().equals(answer.get("state"))
        || (named != null && !named.equals(issuer.url()))) {
      throw new TokenRefusedException.Invalid("The answer belongs to another sign-in");
    }
    String code = answer.get("code");
    if (code == null) {
      throw new TokenRefusedException.Invalid("The provider has refused the sign-in");
    }
    JsonHttp.Answer tokens = exchange(code, attempt);
    JwtClaims claims =
        issuer.claims(Objects.requireNonNullElse(tokens.field("id_token"), ""), client.id());
    if (!attempt.nonce().equals(String.valueOf(claims.getClaimValue("nonce")))) {
      throw new TokenRefusedException.Invalid("The ID token belongs to another sign-in");
    }
    // RFC 6749, section 5.1: without a scope, all were granted that were asked for.
    String granted = Objects.requireNonNullElse(tokens.field("scope"), client.scopes());
    Object names = client.claim() == null ? granted : claims.getClaimValue(client.claim());
    return new Person(principal(claims), CheckedToken.words(names, new HashSet<>()));
  }

  private Principal principal(JwtClaims claims) {
    try {
      return new Principal(issuer.url(), CheckedToken.subject(claims));
    } catch (MalformedClaimException malformed) {
      throw new TokenRefusedException.Invalid("The ID token is malformed");
    }
  }

  private JsonHttp.Answer exchange(String code, Attempt attempt) {
    Map<String, String> form = new HashMap<>(request(attempt).exchange(code));
    String secret = client.secret();
    if (secret == null) {
      form.put("client_id", client.id());
    }
    try {
      JsonHttp.Answer answer =
          metadata
              .http()
              .post(
                  metadata.location("token_endpoint"),
                  form,
                  secret == null ? null : TokenEndpoint.basic(client.id(), secret));
      if (answer.status() >= 500) {
        throw new TokenRefusedException.IssuerAway("The provider answers " + answer.status());
      }
      if (answer.status() != 200) {
        throw new TokenRefusedException.Invalid("The provider refuses the code");
      }
      return answer;
    } catch (TokenException away) {
      throw new TokenRefusedException.IssuerAway("The provider does not answer");
    }
  }
}
