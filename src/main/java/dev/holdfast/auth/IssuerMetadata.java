package dev.holdfast.auth;

import dev.holdfast.lock.AutoLock;
import dev.holdfast.oauth.JsonHttp;
import dev.holdfast.oauth.ServerMetadata;
import dev.holdfast.oauth.TokenException;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jose4j.http.Response;
import org.jose4j.http.SimpleResponse;
import org.jspecify.annotations.Nullable;

/**
 * The metadata of an authorization server, which is read when it is first needed; and why the
 * server is away. Thread-safe.
 */
final class IssuerMetadata {

  static final int MAX_RESPONSE = 1 << 20;
  static final Duration TIMEOUT = Duration.ofSeconds(3);

  /** Strangers can send tokens with unknown keys, and tokens while the issuer is away. */
  static final Duration BETWEEN_READS = Duration.ofSeconds(3);

  private static final int MAX_REDIRECTS = 5;

  private final String url;
  private final JsonHttp http;
  private final AutoLock reading = new AutoLock();

  /** What was found, by the names of the fields. */
  private final Map<String, URI> locations = new ConcurrentHashMap<>();

  /** Guarded by the lock. */
  private @Nullable Long failedAt;

  private volatile @Nullable String problem;

  IssuerMetadata(String url, JsonHttp http) {
    this.url = url;
    this.http = http;
  }

  String url() {
    return url;
  }

  JsonHttp http() {
    return http;
  }

  /** Why the last request to the issuer has failed; empty when it has not. */
  Optional<String> problem() {
    return Optional.ofNullable(problem);
  }

  /** Notes how the last request has ended; null when it was answered. */
  void ended(@Nullable String why) {
    problem = why;
  }

  /** Reads the keys of the issuer. Throws as {@link #location} does, too. */
  SimpleResponse keys() throws IOException {
    URI location = location("jwks_uri");
    try {
      JsonHttp.Answer answer = http.get(location, MAX_RESPONSE, MAX_REDIRECTS);
      if (answer.status() == 200) {
        ended(null);
        // Without headers: all keys are read again after the same time.
        return new Response(answer.status(), "", Map.of(), answer.body());
      }
      throw new IOException("status " + answer.status());
    } catch (IOException | TokenException away) {
      ended(location + " cannot be read: " + away.getMessage());
      throw new IOException(away);
    }
  }

  /**
   * Returns a URL in the metadata.
   *
   * @param field its name, such as {@code jwks_uri}
   * @throws TokenRefusedException.IssuerAway when no metadata is there that names this issuer and
   *     has it
   */
  URI location(String field) {
    URI known = locations.get(field);
    if (known != null) {
      return known;
    }
    try (var _ = reading.hold()) {
      return locations.computeIfAbsent(field, this::read);
    }
  }

  /** OpenID Connect comes first: most servers have it, and some nothing else. */
  private URI read(String field) {
    Long failed = failedAt;
    if (failed != null && System.nanoTime() - failed < BETWEEN_READS.toNanos()) {
      throw new TokenRefusedException.IssuerAway("The token's issuer is away");
    }
    try {
      List<URI> places = ServerMetadata.places(JsonHttp.url(url));
      List<URI> tried = List.of(places.getLast(), places.getFirst());
      JsonHttp.Answer metadata =
          ServerMetadata.read(
              url, field, tried, place -> http.get(place, MAX_RESPONSE, MAX_REDIRECTS));
      ended(null);
      return JsonHttp.url(String.valueOf(metadata.field(field)));
    } catch (TokenException away) {
      failedAt = System.nanoTime();
      ended("the metadata cannot be read: " + away.getMessage());
      throw new TokenRefusedException.IssuerAway(
          "The token's issuer is away: " + away.getMessage());
    }
  }
}
