package dev.holdfast.oauth;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.net.URI;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jose4j.lang.HashUtil;

/**
 * A request for a code that a person grants, with PKCE (RFC 6749, section 4.1; RFC 7636).
 *
 * @param client the id of the client
 * @param redirect where the server sends the browser back to
 * @param state links the answer to the request
 * @param verifier proves that who has the code has begun the request
 */
public record CodeRequest(String client, URI redirect, String state, String verifier) {

  /** New secret of 256 bits, in the characters of RFC 7636, section 4.1. */
  public static String random() {
    byte[] bytes = new byte[32];
    // Created per call: a native image must not contain a seed from its build.
    new SecureRandom().nextBytes(bytes);
    return encoded(bytes);
  }

  private static String encoded(byte[] bytes) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  /**
   * The page where the person grants the code.
   *
   * @param endpoint the authorization endpoint
   * @param more parameters besides those of the code and PKCE
   */
  public URI page(URI endpoint, Map<String, String> more) {
    Map<String, String> query = new LinkedHashMap<>();
    query.put("response_type", "code");
    query.put("client_id", client);
    query.put("redirect_uri", redirect.toString());
    query.put("state", state);
    query.put(
        "code_challenge",
        encoded(HashUtil.getMessageDigest("SHA-256").digest(verifier.getBytes(US_ASCII))));
    query.put("code_challenge_method", "S256");
    query.putAll(more);
    String separator = endpoint.getRawQuery() == null ? "?" : "&";
    return URI.create(endpoint + separator + JsonHttp.form(query));
  }

  /** The form that exchanges the code. */
  public Map<String, String> exchange(String code) {
    return Map.of(
        "grant_type",
        "authorization_code",
        "code",
        code,
        "redirect_uri",
        redirect.toString(),
        "code_verifier",
        verifier);
  }

  /** Omits the secrets. */
  @Override
  public String toString() {
    return "CodeRequest[client=" + client + "]";
  }
}
