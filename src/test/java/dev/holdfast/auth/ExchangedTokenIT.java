package dev.holdfast.auth;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.OpenIdProvider;
import dev.holdfast.testing.RawConnection;
import dev.holdfast.testing.ScriptedRequest;
import dev.holdfast.testing.ScriptedServer;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The gateway gets tokens for servers from a certified provider: for itself, and for its clients.
 */
@Timeout(120)
class ExchangedTokenIT {

  private static final String PUBLIC_URL = "https://mcp.example.com";
  private static final String OWN = "/servers/own/mcp";
  private static final String TOOLS = "https://tools.example.com/mcp";
  private static final Pattern ID = Pattern.compile("\"id\":(\\d+)");

  @AutoClose private final OpenIdProvider issuer = OpenIdProvider.start();
  @AutoClose private final ScriptedServer server = ScriptedServer.playing(this::serve);
  @AutoClose private final ScriptedServer own = ScriptedServer.playing(this::serve);

  private void serve(ScriptedRequest request, RawConnection wire) throws IOException {
    Matcher id = ID.matcher(request.body());
    if (request.body().contains("refuse/")) {
      int status = request.body().contains("401") ? 401 : 403;
      wire.answer(status, "text/plain", "secret", "WWW-Authenticate: Bearer realm=\"secret\"");
    } else if (id.find()) {
      String opened =
          "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"protocolVersion\":\"2025-03-26\",\"capabilities\":{},\"serverInfo\":{\"name\":\"s\"}}}"
              .formatted(id.group(1));
      wire.answer(200, "application/json", opened);
    } else {
      wire.answer(202, "", "");
    }
  }

  private Map<String, String> settings() {
    Map<String, String> settings = new HashMap<>();
    settings.put("holdfast.auth.public-url", PUBLIC_URL);
    settings.put("holdfast.auth.issuers.corp.url", issuer.issuer());
    settings.put("holdfast.upstream.url", server.url().toString());
    settings.put("holdfast.upstream.authorization", "exchange");
    settings.put("holdfast.upstreams.own.url", own.url().toString());
    settings.put("holdfast.upstreams.own.authorization", "client-credentials");
    settings.put("holdfast.upstream.era", "old");
    settings.put("holdfast.upstreams.own.era", "old");
    for (String upstream : List.of("holdfast.upstream.token.", "holdfast.upstreams.own.token.")) {
      settings.put(upstream + "endpoint", issuer.issuer() + "/token");
      settings.put(upstream + "client-id", "gateway");
      settings.put(upstream + "client-secret", "gateway");
      settings.put(upstream + "resource", TOOLS);
      settings.put(upstream + "scope", "tools");
    }
    return settings;
  }

  private AccessKey token(String subject, String path) {
    return new AccessKey(issuer.token(subject, PUBLIC_URL + path, "tools"));
  }

  /** The claims of the token in a request. */
  private static String claims(ScriptedRequest request) {
    String token = String.valueOf(request.header("authorization")).replaceFirst("Bearer ", "");
    return new String(Base64.getUrlDecoder().decode(token.split("\\.", -1)[1]), UTF_8);
  }

  private static String request(String method) {
    return "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"%s\"}".formatted(method);
  }

  @Test
  void shouldActForItselfAndForClients() {
    try (Gateway gateway = Gateway.start(settings())) {
      actsForItself(gateway);
      actsForClients(gateway);
      tellsRefusals(gateway);
      await()
          .untilAsserted(() ->
              assertThat(gateway.output())
                  .contains("no access token for the upstream upstream=default reason=status 400"));
      assertThat(gateway.output()).doesNotContain("upstream is down");
    }
  }

  private void actsForItself(Gateway gateway) {
    McpClient client = McpClient.at(gateway.url().resolve(OWN), token("alice", OWN));
    assertThat(client.post(request("ping")).statusCode()).isEqualTo(200);
    assertThat(own.requests())
        .hasSize(2)
        .allSatisfy(each ->
            assertThat(claims(each))
                .contains("\"sub\":\"gateway\"", "\"aud\":\"" + TOOLS + "\"", "\"tools\""));
  }

  private void actsForClients(Gateway gateway) {
    McpClient client = McpClient.at(gateway.url(), token("alice", "/mcp"));
    assertThat(client.post(request("ping")).statusCode()).isEqualTo(200);
    assertThat(server.requests())
        .allSatisfy(each ->
            assertThat(claims(each))
                .contains(
                    "\"sub\":\"alice\"",
                    "\"client_id\":\"gateway\"",
                    "\"aud\":\"" + TOOLS + "\"",
                    "\"tools\""));
    assertThat(tokens()).as("one exchange for both requests").hasSize(1);
    McpClient later = client.with(token("alice", "/mcp"));
    assertThat(later.post(request("ping")).statusCode()).isEqualTo(200);
    assertThat(tokens()).hasSize(2);

    // What the server has refused is not used again.
    assertThat(later.post(request("refuse/401")).statusCode()).isEqualTo(401);
    assertThat(later.post(request("ping")).statusCode()).isEqualTo(200);
    assertThat(tokens()).hasSize(3);
    HttpResponse<String> forbidden = later.post(request("refuse/403"));
    assertThat(forbidden.statusCode()).isEqualTo(403);
    assertThat(forbidden.headers().firstValue("WWW-Authenticate")).isEmpty();
    assertThat(forbidden.body()).doesNotContain("secret");
    assertThat(later.post(request("ping")).statusCode()).isEqualTo(200);
    assertThat(tokens()).hasSize(3);
  }

  private List<String> tokens() {
    return server.requests().stream()
        .map(each -> String.valueOf(each.header("authorization")))
        .distinct()
        .toList();
  }

  private void tellsRefusals(Gateway gateway) {
    int before = server.requests().size();
    HttpResponse<String> refused = McpClient.at(gateway.url(), token("bob", "/mcp")).initialized();
    assertThat(refused.statusCode()).isEqualTo(403);
    assertThat(refused.body()).contains("status 403");
    assertThat(server.requests()).hasSize(before);
  }
}
