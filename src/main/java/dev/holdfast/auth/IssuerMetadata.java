package dev.holdfast.auth;

import dev.holdfast.lock.AutoLock;
import dev.holdfast.oauth.JsonHttp;
import dev.holdfast.oauth.ServerMetadata;
import dev.holdfast.oauth.TokenException;
import dev.holdfast.retry.Backoff;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
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

  /** Longest pause after failed reads. */
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

  /** Time for which keys are used that cannot be read again. */
  private static final Duration KEYS_KEPT = Duration.ofDays(1);

  private static final int MAX_REDIRECTS = 5;

  private final String url;
  private final JsonHttp http;
  private final AutoLock reading = new AutoLock();

  /** Locations that were found, by the names of the fields. */
  private final Map<String, URI> locations = new ConcurrentHashMap<>();

  // Guarded by the lock.
  private Backoff backoff = new Backoff(BETWEEN_READS, LONGEST_PAUSE);
  private @Nullable Long retryAt;
  private @Nullable Keys last;

  private volatile @Nullable String problem;

  /** The keys that were read at a nano time. */
  private record Keys(SimpleResponse response, long readAt) {}

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

  /** Reason for which the last request to the issuer has failed; empty when it has not. */
  Optional<String> problem() {
    return Optional.ofNullable(problem);
  }

  /** Notes how the last request has ended; null when it was answered. */
  void ended(@Nullable String why) {
    problem = why;
  }

  /**
   * Reads the keys of the issuer. While it is away, returns those of the last day.
   *
   * @throws IOException when there are none
   */
  SimpleResponse keys() throws IOException {
    try (var _ = reading.hold()) {
      try {
        requireDue();
        return readKeys(location("jwks_uri"));
      } catch (IOException | TokenRefusedException.IssuerAway away) {
        if (last != null && System.nanoTime() - last.readAt() < KEYS_KEPT.toNanos()) {
          return last.response();
        }
        throw new IOException(away);
      }
    }
  }

  private SimpleResponse readKeys(URI location) throws IOException {
    try {
      JsonHttp.Answer answer = http.get(location, MAX_RESPONSE, MAX_REDIRECTS);
      if (answer.status() != 200) {
        throw new IOException("status " + answer.status());
      }
      // Without headers: all keys are read again after the same time.
      SimpleResponse keys = new Response(answer.status(), "", Map.of(), answer.body());
      last = new Keys(keys, System.nanoTime());
      succeeded();
      return keys;
    } catch (IOException | TokenException away) {
      failed(location + " cannot be read: " + away.getMessage());
      throw new IOException(away);
    }
  }

  private void requireDue() {
    if (retryAt != null && System.nanoTime() - retryAt < 0) {
      throw new TokenRefusedException.IssuerAway("The token's issuer is away");
    }
  }

  private void succeeded() {
    backoff = backoff.reset();
    retryAt = null;
    ended(null);
  }

  /** Replicas that began at the same time shall not go on asking at the same time. */
  private void failed(String why) {
    long pause = backoff.delay().toNanos();
    retryAt = System.nanoTime() + pause + ThreadLocalRandom.current().nextLong(pause / 2);
    backoff = backoff.next();
    ended(why);
  }

  /**
   * Returns a URL in the metadata.
   *
   * @param field its name, such as {@code jwks_uri}
   * @throws TokenRefusedException.IssuerAway when no metadata is there that names this issuer and
   *     has it, as {@link JsonHttp#url} allows it
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
    requireDue();
    try {
      URI issuer = URI.create(url);
      List<URI> places = ServerMetadata.places(issuer);
      List<URI> tried = List.of(places.getLast(), places.getFirst());
      JsonHttp.Answer metadata =
          ServerMetadata.read(
              url, field, tried, place -> http.get(place, MAX_RESPONSE, MAX_REDIRECTS));
      URI location = JsonHttp.url(field, String.valueOf(metadata.field(field)), issuer);
      succeeded();
      return location;
    } catch (TokenException away) {
      failed("the metadata cannot be read: " + away.getMessage());
      throw new TokenRefusedException.IssuerAway(
          "The token's issuer is away: " + away.getMessage());
    }
  }
}
