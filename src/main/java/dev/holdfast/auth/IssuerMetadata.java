package dev.holdfast.auth;

import dev.holdfast.lock.AutoLock;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jose4j.http.Get;
import org.jose4j.http.SimpleResponse;
import org.jose4j.json.JsonUtil;
import org.jose4j.lang.JoseException;
import org.jspecify.annotations.Nullable;

/**
 * The metadata of an authorization server (OpenID Connect Discovery 1.0, RFC 8414), which is read
 * when it is first needed; and why the server is away. Thread-safe.
 */
final class IssuerMetadata {

  static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(2);
  static final Duration READ_TIMEOUT = Duration.ofSeconds(3);
  static final int MAX_RESPONSE = 1 << 20;

  /** Strangers can send tokens with unknown keys, and tokens while the issuer is away. */
  static final Duration BETWEEN_READS = Duration.ofSeconds(3);

  private final String url;
  private final Get http = new Get();
  private final AutoLock reading = new AutoLock();

  /** What was found, by the names of the fields. */
  private final Map<String, String> locations = new ConcurrentHashMap<>();

  /** Guarded by the lock. */
  private @Nullable Long failedAt;

  private volatile @Nullable String problem;

  /** Reads nothing yet. */
  IssuerMetadata(String url) {
    this.url = url;
    http.setConnectTimeout((int) CONNECT_TIMEOUT.toMillis());
    http.setReadTimeout((int) READ_TIMEOUT.toMillis());
    http.setResponseBodySizeLimit(MAX_RESPONSE);
    http.setRetries(0);
  }

  /** The URL of the issuer, which is its name in tokens. */
  String url() {
    return url;
  }

  /** Why the last request to the issuer has failed; empty when it has not. */
  Optional<String> problem() {
    return Optional.ofNullable(problem);
  }

  /** Notes how the last request has ended; null when it was answered. */
  void ended(@Nullable String why) {
    problem = why;
  }

  /** Reads a document of the issuer. */
  SimpleResponse read(String location) throws IOException {
    try {
      SimpleResponse response = http.get(location);
      ended(null);
      return response;
    } catch (IOException away) {
      ended(location + " cannot be read: " + away.getMessage());
      throw away;
    }
  }

  /**
   * Returns a URL in the metadata.
   *
   * @param field its name, such as {@code jwks_uri}
   * @throws TokenException.IssuerAway when no metadata is there that names this issuer and has it
   */
  String location(String field) {
    String known = locations.get(field);
    if (known != null) {
      return known;
    }
    try (var _ = reading.hold()) {
      String meanwhile = locations.get(field);
      if (meanwhile != null) {
        return meanwhile;
      }
      Long failed = failedAt;
      if (failed != null && System.nanoTime() - failed < BETWEEN_READS.toNanos()) {
        throw new TokenException.IssuerAway("The token's issuer is away");
      }
      try {
        String read = readLocation(field);
        locations.put(field, read);
        return read;
      } catch (IOException away) {
        failedAt = System.nanoTime();
        throw new TokenException.IssuerAway(
            "The token's issuer is away: " + String.valueOf(away.getMessage()));
      }
    }
  }

  private String readLocation(String field) throws IOException {
    IOException failure = new IOException("no metadata");
    for (String metadata : metadataUrls()) {
      try {
        Map<String, Object> fields = JsonUtil.parseJson(read(metadata).getBody());
        if (url.equals(fields.get("issuer")) && fields.get(field) instanceof String location) {
          return location;
        }
        failure = new IOException(metadata + " does not have this issuer and its " + field);
      } catch (IOException | JoseException away) {
        failure = new IOException(metadata + " cannot be read", away);
      }
    }
    throw failure;
  }

  /** The places of OpenID Connect Discovery and of RFC 8414, section 3. */
  private Set<String> metadataUrls() {
    int host = url.indexOf("//") + 2;
    int path = url.indexOf('/', host);
    String root = path < 0 ? url : url.substring(0, path);
    String rest = path < 0 ? "" : url.substring(path).replaceAll("/$", "");
    return Set.of(
        root + rest + "/.well-known/openid-configuration",
        root + "/.well-known/oauth-authorization-server" + rest);
  }
}
