package dev.holdfast.oauth;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Tokens, and what their renewal needs.
 *
 * @param client who has got them
 * @param endpoint where they come from
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

  private static final JsonFactory JSON = new JsonFactory();

  /**
   * This program at an authorization server.
   *
   * @param secret null for none
   * @param secretInForm whether it shows its secret in forms, not in a header
   */
  record Client(String id, @Nullable String secret, boolean secretInForm) {

    TokenEndpoint endpoint(JsonHttp http, URI url) {
      String shown = secret == null || secretInForm ? null : TokenEndpoint.basic(id, secret);
      return new TokenEndpoint(http, url, shown);
    }

    /** Adds what this client shows in forms. */
    Map<String, String> form(Map<String, String> fields) {
      Map<String, String> form = new HashMap<>(fields);
      if (secret == null || secretInForm) {
        form.put("client_id", id);
      }
      if (secret != null && secretInForm) {
        form.put("client_secret", secret);
      }
      return form;
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

  /** For a client whose own credentials get the next tokens. */
  SavedTokens withoutRefresh() {
    return new SavedTokens(client, endpoint, resource, access, null, issuedAt);
  }

  /** Whether four fifths of the lifetime are over. */
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
    TokenEndpoint.Issued issued =
        client
            .endpoint(http, endpoint)
            .issue(
                client.form(
                    Map.of(
                        "grant_type",
                        "refresh_token",
                        "refresh_token",
                        refreshToken,
                        "resource",
                        resource)));
    String next = Objects.requireNonNullElse(issued.refresh(), refreshToken);
    return new SavedTokens(client, endpoint, resource, issued.access(), next, now);
  }

  /** Returns a JSON object, with the name of the server for people who look for its file. */
  byte[] toJson(URI server) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (JsonGenerator json = JSON.createGenerator(bytes)) {
      json.writeStartObject();
      json.writeStringField("server", server.toString());
      json.writeStringField("client_id", client.id());
      if (client.secret() != null) {
        json.writeStringField("client_secret", client.secret());
        json.writeBooleanField("client_secret_in_form", client.secretInForm());
      }
      json.writeStringField("token_endpoint", endpoint.toString());
      json.writeStringField("resource", resource);
      json.writeStringField("access_token", access.value());
      json.writeNumberField("expires_in", access.lifetime().toSeconds());
      json.writeNumberField("issued_at", issuedAt.getEpochSecond());
      if (refresh != null) {
        json.writeStringField("refresh_token", refresh);
      }
      json.writeEndObject();
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    return bytes.toByteArray();
  }

  /** Reads what {@link #toJson} has written for the same server; empty for anything else. */
  static Optional<SavedTokens> parse(byte[] json, URI server) {
    JsonHttp.Answer saved = new JsonHttp.Answer(200, JsonHttp.fields(json));
    try {
      if (!required(saved, "server").equals(server.toString())) {
        return Optional.empty();
      }
      Client client =
          new Client(
              required(saved, "client_id"),
              saved.field("client_secret"),
              "true".equals(saved.field("client_secret_in_form")));
      Duration lifetime = Duration.ofSeconds(Long.parseLong(required(saved, "expires_in")));
      return Optional.of(
          new SavedTokens(
              client,
              URI.create(required(saved, "token_endpoint")),
              required(saved, "resource"),
              new AccessToken(required(saved, "access_token"), lifetime),
              saved.field("refresh_token"),
              Instant.ofEpochSecond(Long.parseLong(required(saved, "issued_at")))));
    } catch (IllegalArgumentException | DateTimeException malformed) {
      return Optional.empty();
    }
  }

  private static String required(JsonHttp.Answer saved, String name) {
    String value = saved.field(name);
    if (value == null) {
      throw new IllegalArgumentException(name);
    }
    return value;
  }

  /** Leaves out the tokens. */
  @Override
  public String toString() {
    return "SavedTokens[endpoint=" + endpoint + ", access=" + access + "]";
  }
}
