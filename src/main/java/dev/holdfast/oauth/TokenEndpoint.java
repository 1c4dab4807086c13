package dev.holdfast.oauth;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.RequestOptions;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The token endpoint of an authorization server (RFC 6749, section 3.2). */
public final class TokenEndpoint implements AutoCloseable {

  /** Upper bound of a response. */
  static final int MAX_BYTES = 64 * 1024;

  /** For servers that do not name one, which RFC 6749, section 5.1, allows. */
  private static final Duration DEFAULT_LIFETIME = Duration.ofMinutes(5);

  private static final long MAX_SECONDS = Duration.ofDays(1).toSeconds();
  private static final Pattern ERROR = Pattern.compile("[a-z_]{1,64}");

  /** RFC 6750, section 2.1. */
  private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9._~+/-]+=*");

  private static final JsonFactory JSON = new JsonFactory();

  private final HttpClient client;
  private final URI url;
  private final String authorization;
  private final Duration timeout;

  /**
   * Connects on demand.
   *
   * @param url {@code http} or {@code https}
   * @param id the client's id at the server, which it proves with its secret (HTTP Basic)
   * @param timeout time limit of a request
   */
  public TokenEndpoint(Vertx vertx, URI url, String id, String secret, Duration timeout) {
    this.url = url;
    this.timeout = timeout;
    String pair = encoded(id) + ":" + encoded(secret);
    authorization =
        "Basic " + Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.UTF_8));
    int millis = Math.toIntExact(Math.min(timeout.toMillis(), Integer.MAX_VALUE));
    client = vertx.createHttpClient(new HttpClientOptions().setConnectTimeout(millis));
  }

  /**
   * Requests a token.
   *
   * @param form the parameters, such as {@code grant_type}
   * @throws TokenException if the server refuses or does not answer
   */
  public AccessToken request(Map<String, String> form) {
    String body =
        form.entrySet().stream()
            .map(field -> encoded(field.getKey()) + "=" + encoded(field.getValue()))
            .collect(Collectors.joining("&"));
    Future<Response> response =
        client
            .request(options())
            .compose(request -> request.send(Buffer.buffer(body)))
            .compose(TokenEndpoint::read);
    try {
      return response
          .toCompletionStage()
          .toCompletableFuture()
          .get(timeout.toMillis(), TimeUnit.MILLISECONDS)
          .token();
    } catch (ExecutionException failure) {
      Throwable cause = Objects.requireNonNullElse(failure.getCause(), failure);
      throw new TokenException("no answer: " + cause.getMessage(), cause);
    } catch (TimeoutException late) {
      throw new TokenException("no answer in time", late);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new TokenException("interrupted", interrupted);
    }
  }

  private RequestOptions options() {
    boolean https = "https".equalsIgnoreCase(url.getScheme());
    String query = url.getRawQuery() == null ? "" : "?" + url.getRawQuery();
    return new RequestOptions()
        .setMethod(HttpMethod.POST)
        .setSsl(https)
        .setHost(url.getHost())
        .setPort(url.getPort() >= 0 ? url.getPort() : https ? 443 : 80)
        .setURI((url.getRawPath().isEmpty() ? "/" : url.getRawPath()) + query)
        .setTimeout(timeout.toMillis())
        .putHeader("Content-Type", "application/x-www-form-urlencoded")
        .putHeader("Accept", "application/json")
        .putHeader("Authorization", authorization);
  }

  private static Future<Response> read(HttpClientResponse head) {
    Promise<Response> whole = Promise.promise();
    Buffer body = Buffer.buffer();
    head.exceptionHandler(whole::tryFail);
    head.handler(chunk -> {
      if (body.length() + chunk.length() > MAX_BYTES) {
        whole.tryFail("more than " + MAX_BYTES + " bytes");
        head.request().reset();
      } else {
        body.appendBuffer(chunk);
      }
    });
    head.endHandler(_ -> whole.tryComplete(new Response(head.statusCode(), body.getBytes())));
    return whole.future();
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  @Override
  public void close() {
    client.close();
  }

  private record Response(int status, byte[] body) {

    AccessToken token() {
      Map<String, String> fields = fields();
      if (status != 200) {
        String error = fields.getOrDefault("error", "");
        throw new TokenException(
            "status " + status + (ERROR.matcher(error).matches() ? " " + error : ""), null);
      }
      String token = fields.getOrDefault("access_token", "");
      String type = fields.getOrDefault("token_type", "").toLowerCase(Locale.ROOT);
      if (!TOKEN.matcher(token).matches() || !type.equals("bearer")) {
        throw new TokenException("an answer without a bearer token", null);
      }
      return new AccessToken(token, lifetime(fields.get("expires_in")));
    }

    private static Duration lifetime(@Nullable String seconds) {
      return seconds != null && seconds.matches("\\d{1,9}")
          ? Duration.ofSeconds(Math.clamp(Long.parseLong(seconds), 1, MAX_SECONDS))
          : DEFAULT_LIFETIME;
    }

    /** The texts and numbers of the object; empty if it is none. */
    private Map<String, String> fields() {
      Map<String, String> fields = new HashMap<>();
      try (JsonParser json = JSON.createParser(body)) {
        if (json.nextToken() != JsonToken.START_OBJECT) {
          return Map.of();
        }
        while (json.nextToken() == JsonToken.FIELD_NAME) {
          String name = json.currentName();
          if (json.nextToken().isScalarValue()) {
            fields.put(name, json.getText());
          } else {
            json.skipChildren();
          }
        }
        return fields;
      } catch (IOException malformed) {
        return Map.of();
      }
    }
  }
}
