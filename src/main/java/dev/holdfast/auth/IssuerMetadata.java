package dev.holdfast.auth;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.lock.AutoLock;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URL;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLSocketFactory;
import org.jose4j.http.Response;
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
  private final @Nullable Supplier<SSLSocketFactory> tls;
  private final AutoLock reading = new AutoLock();

  /** What was found, by the names of the fields. */
  private final Map<String, String> locations = new ConcurrentHashMap<>();

  /** Guarded by the lock. */
  private @Nullable Long failedAt;

  private volatile @Nullable String problem;

  /**
   * Reads nothing yet.
   *
   * @param tls sockets for https; null for those of the Java runtime
   */
  IssuerMetadata(String url, @Nullable Supplier<SSLSocketFactory> tls) {
    this.url = url;
    this.tls = tls;
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
      HttpURLConnection connection = connection(location);
      int status = connection.getResponseCode();
      if (status != HttpURLConnection.HTTP_OK) {
        throw new IOException("status " + status);
      }
      String body = body(connection, connection.getInputStream(), MAX_RESPONSE);
      ended(null);
      return new Response(status, "", connection.getHeaderFields(), body);
    } catch (IOException away) {
      ended(location + " cannot be read: " + away.getMessage());
      throw away;
    }
  }

  /**
   * Prepares a request to the issuer.
   *
   * @throws IOException if the location is not below https, as that of the issuer is: others could
   *     replace the keys, and read tokens and secrets
   */
  HttpURLConnection connection(String location) throws IOException {
    URL target = toUrl(location);
    if (isHttps(toUrl(url)) && !isHttps(target)) {
      throw new IOException("not https");
    }
    if (!(target.openConnection() instanceof HttpURLConnection connection)) {
      throw new IOException("no URL of HTTP");
    }
    if (tls != null && connection instanceof HttpsURLConnection secure) {
      secure.setSSLSocketFactory(tls.get());
    }
    connection.setConnectTimeout((int) CONNECT_TIMEOUT.toMillis());
    connection.setReadTimeout((int) READ_TIMEOUT.toMillis());
    return connection;
  }

  private static URL toUrl(String text) throws IOException {
    try {
      return URI.create(text).toURL();
    } catch (IllegalArgumentException malformed) {
      throw new IOException("no URL", malformed);
    }
  }

  private static boolean isHttps(URL location) {
    return location.getProtocol().equalsIgnoreCase("https");
  }

  /** Reads a body, and closes its stream. */
  static String body(HttpURLConnection connection, @Nullable InputStream stream, int max)
      throws IOException {
    try (InputStream body = stream) {
      byte[] bytes = body == null ? new byte[0] : body.readNBytes(max + 1);
      if (bytes.length > max) {
        connection.disconnect();
        throw new IOException("more than " + max + " bytes");
      }
      return new String(bytes, UTF_8);
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
        failure = new IOException(metadata + " cannot be read: " + away.getMessage(), away);
      }
    }
    throw failure;
  }

  /** The places of OpenID Connect Discovery and of RFC 8414, section 3. */
  private List<String> metadataUrls() {
    int host = url.indexOf("//") + 2;
    int path = url.indexOf('/', host);
    String root = path < 0 ? url : url.substring(0, path);
    String rest = path < 0 ? "" : url.substring(path).replaceAll("/$", "");
    return List.of(
        root + rest + "/.well-known/openid-configuration",
        root + "/.well-known/oauth-authorization-server" + rest);
  }
}
