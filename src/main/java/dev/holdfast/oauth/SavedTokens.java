package dev.holdfast.oauth;

import java.net.URI;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jose4j.json.JsonUtil;
import org.jspecify.annotations.Nullable;

/**
 * Tokens, and what their renewal needs.
 *
 * @param resource the server that they are for (RFC 8707)
 * @param refresh gets the next tokens; null for none
 * @param issuedAt by the clock of this machine
 */
record SavedTokens(
    Client client,
    URI endpoint,
    String resource,
    AccessToken access,
    @Nullable String refresh,
    Instant issuedAt) {

  /**
   * This program at an authorization server.
   *
   * @param secretInForm whether it shows its secret in forms, not in a header
   */
  record Client(String id, @Nullable String secret, boolean secretInForm) {

    /**
     * Gets tokens.
     *
     * @param fields of the form, besides those that prove who this client is
     * @throws TokenException if the server refuses or does not answer
     */
    SavedTokens tokens(
        JsonHttp http, URI endpoint, String resource, Map<String, String> fields, Instant now) {
      Map<String, String> form = new HashMap<>(fields);
      form.put("resource", resource);
      String authorization = null;
      if (secret != null && !secretInForm) {
        authorization = TokenEndpoint.basic(id, secret);
      } else {
        form.put("client_id", id);
        if (secret != null) {
          form.put("client_secret", secret);
        }
      }
      TokenEndpoint.Issued issued = new TokenEndpoint(http, endpoint, authorization).issue(form);
      return new SavedTokens(this, endpoint, resource, issued.access(), issued.refresh(), now);
    }

    /** Leaves out the secret. */
    @Override
    public String toString() {
      return "Client[id=" + id + "]";
    }
  }

  /** Keeps whole seconds, as the file does. */
  SavedTokens {
    issuedAt = issuedAt.truncatedTo(ChronoUnit.SECONDS);
  }

  SavedTokens withRefresh(@Nullable String other) {
    return new SavedTokens(client, endpoint, resource, access, other, issuedAt);
  }

  /** Returns true if four fifths of the lifetime are over. */
  boolean isDue(Instant now) {
    return !now.isBefore(issuedAt.plus(access.lifetime().multipliedBy(4).dividedBy(5)));
  }

  boolean hasEnded(Instant now) {
    return !now.isBefore(issuedAt.plus(access.lifetime()));
  }

  /**
   * Gets the next tokens with the refresh token.
   *
   * @throws TokenException if the server refuses or does not answer
   */
  SavedTokens renewed(JsonHttp http, String refreshToken, Instant now) {
    Map<String, String> form = Map.of("grant_type", "refresh_token", "refresh_token", refreshToken);
    SavedTokens next = client.tokens(http, endpoint, resource, form, now);
    return next.refresh == null ? next.withRefresh(refreshToken) : next;
  }

  /** Returns a JSON object, with the name of the server for people who look for its file. */
  String toJson(URI server) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("server", server.toString());
    json.put("client_id", client.id());
    if (client.secret() != null) {
      json.put("client_secret", client.secret());
      json.put("client_secret_in_form", client.secretInForm());
    }
    json.put("token_endpoint", endpoint.toString());
    json.put("resource", resource);
    json.put("access_token", access.value());
    json.put("expires_in", access.lifetime().toSeconds());
    json.put("issued_at", issuedAt.getEpochSecond());
    if (refresh != null) {
      json.put("refresh_token", refresh);
    }
    return JsonUtil.toJson(json);
  }

  /** Reads what {@link #toJson} has written for the same server; empty for anything else. */
  static Optional<SavedTokens> parse(String json, URI server) {
    Map<String, Object> saved = JsonHttp.parse(json);
    if (!server.toString().equals(saved.get("server"))) {
      return Optional.empty();
    }
    try {
      Client client =
          new Client(
              required(saved, "client_id"),
              (String) saved.get("client_secret"),
              Boolean.TRUE.equals(saved.get("client_secret_in_form")));
      Duration lifetime = Duration.ofSeconds(Long.parseLong(required(saved, "expires_in")));
      return Optional.of(
          new SavedTokens(
              client,
              URI.create(required(saved, "token_endpoint")),
              required(saved, "resource"),
              new AccessToken(required(saved, "access_token"), lifetime),
              (String) saved.get("refresh_token"),
              Instant.ofEpochSecond(Long.parseLong(required(saved, "issued_at")))));
    } catch (IllegalArgumentException | ClassCastException | DateTimeException malformed) {
      return Optional.empty();
    }
  }

  private static String required(Map<String, Object> saved, String name) {
    if (!saved.containsKey(name)) {
      throw new IllegalArgumentException(name);
    }
    return String.valueOf(saved.get(name));
  }

  /** Leaves out the tokens. */
  @Override
  public String toString() {
    return "SavedTokens[endpoint=" + endpoint + ", access=" + access + "]";
  }
}
