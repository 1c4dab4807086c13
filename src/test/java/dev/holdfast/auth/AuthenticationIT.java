package dev.holdfast.auth;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.call.SessionId;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.HostileClient;
import dev.holdfast.testing.HostileClient.Response;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.OpenIdProvider;
import dev.holdfast.testing.RedisFixture;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Test;

/**
 * Nobody gets in without a key, and no key opens the session of another one: on both stores, and on
 * a replica that has never seen the session.
 */
class AuthenticationIT {

  private static final AccessKey ALICE = AccessKey.random();
  private static final AccessKey BOB = AccessKey.random();
  private static final Map<String, String> KEYS =
      Map.of(
          "holdfast.auth.keys.alice.hash",
          ALICE.hash(),
          "holdfast.auth.keys.alice.scopes",
          "first,other",
          "holdfast.auth.keys.bob.hash",
          BOB.hash(),
          "holdfast.calls.follow",
          "true",
          "holdfast.upstreams.other.url",
          "http://127.0.0.1:1/mcp",
          "holdfast.upstreams.other.scope",
          "other");

  private static final String PUBLIC_URL = "https://mcp.example.com";
  private static final String NO_KEY = "";
  private static final String PING = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}";
  private static final String CALL =
      """
      {"jsonrpc":"2.0","id":8,"method":"tools/call","params":\
      {"name":"echo","arguments":{"message":"hello"}}}\
      """;
  private static final String GREET =
      "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/call\",\"params\":{\"name\":\"greet\"}}";
  private static final String COUNTDOWN =
      """
      {"jsonrpc":"2.0","id":10,"method":"tools/call","params":\
      {"name":"countdown","arguments":{"from":8},"_meta":{"progressToken":1}}}\
      """;
  private static final String NOTIFICATION =
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}";
  private static final String INITIALIZE = McpClient.initialize(McpClient.NEWEST, "test");

  private static final String FOREIGN = "%SESSION%";

  /**
   * What somebody may ask about a session.
   *
   * @param target with {@link #FOREIGN} in place of the session's id
   */
  private record Request(String method, String target, String headers, String body) {

    static Request mcp(String method, String headers, String body) {
      return new Request(method, "/mcp", "Mcp-Session-Id: " + FOREIGN + "\r\n" + headers, body);
    }

    Response send(Gateway gateway, String key, String session) {
      return HostileClient.exchange(
          gateway.url().getPort(), head(key).replace(FOREIGN, session), body);
    }

    String head(String key) {
      return method
          + " "
          + target
          + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
          + "Accept: application/json, text/event-stream\r\n"
          + (body.isEmpty() ? "" : "Content-Type: application/json\r\n")
          + ("Content-Length: " + body.length() + "\r\n")
          + (key.isEmpty() ? "" : "Authorization: Bearer " + key + "\r\n")
          + headers
          + "X-End: 1";
    }
  }

  private static List<Request> requests(String answer) {
    return List.of(
        Request.mcp("POST", "", PING),
        Request.mcp("POST", "", CALL),
        Request.mcp("POST", "", NOTIFICATION),
        Request.mcp("POST", "", answer),
        Request.mcp("GET", "", ""),
        Request.mcp("GET", "Last-Event-ID: g_0-0\r\n", ""),
        Request.mcp("GET", "Last-Event-ID: 1_0-0\r\n", ""),
        Request.mcp("GET", "Last-Event-ID: malformed\r\n", ""),
        Request.mcp("DELETE", "", ""));
  }

  private static List<Request> legacyRequests() {
    String messages = "/messages/" + FOREIGN;
    return List.of(
        new Request("POST", messages, "", PING),
        new Request("POST", messages, "", CALL),
        new Request("POST", messages, "", NOTIFICATION),
        new Request("GET", "/sse", "Last-Event-ID: " + FOREIGN + "_m_0-0\r\n", ""),
        new Request("DELETE", messages, "", ""));
  }

  /** The handle of a call stands in place of a session. */
  private static List<Request> callRequests() {
    String stream = "/calls/" + FOREIGN + "/stream";
    return List.of(
        new Request("GET", stream, "", ""),
        new Request("GET", stream + "?offset=now", "", ""),
        new Request("GET", stream + "?offset=-1&live=long-poll", "", ""),
        new Request("GET", stream + "?offset=-1&live=sse", "", ""));
  }

  private static String initialize(Gateway gateway, String key) {
    return new Request("POST", "/mcp", "", INITIALIZE).send(gateway, key, "").session();
  }

  /** A stream of the gateway, as text. */
  private record Stream(HostileClient client, BufferedReader lines) implements AutoCloseable {

    static Stream open(Gateway gateway, Request request, String key, String session)
        throws IOException {
      String head = request.head(key).replace(FOREIGN, session);
      HostileClient client = HostileClient.connect(gateway.url());
      client.send(head + "\r\n\r\n" + request.body());
      return new Stream(client, new BufferedReader(new InputStreamReader(client.in(), UTF_8)));
    }

    /** Reads up to a line with a match, and returns its group. */
    String await(Pattern pattern) throws IOException {
      List<String> before = new ArrayList<>();
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        Matcher found = pattern.matcher(line);
        if (found.find()) {
          return found.group(1);
        }
        before.add(line);
      }
      throw new AssertionError(pattern + " is not in " + before);
    }

    /** Reads up to its end. */
    List<String> rest() {
      return lines.lines().toList();
    }

    @Override
    public void close() {
      client.close();
    }
  }

  @Test
  void shouldLetNobodyElseUseASessionInMemory() throws IOException {
    try (Gateway gateway = Gateway.start(KEYS)) {
      letsNobodyElseUseASession(gateway, gateway, WITH_KEYS);
      asksForAKeyOnEveryPath(gateway);
      answersPagesThatLackAKey(gateway);
      asksForTheScopeOfAnUpstream(gateway);
      assertThat(gateway.output())
          .contains("requests need a key owners=[alice, bob]")
          .doesNotContain(ALICE.value(), BOB.value());
    }
  }

  @Test
  void shouldLetNobodyElseUseASessionInRedis() throws IOException {
    try (RedisFixture redis = RedisFixture.start()) {
      Map<String, String> settings = new HashMap<>(KEYS);
      settings.putAll(redis.gatewaySettings());
      List<Gateway> replicas = Gateway.startPair(settings);
      try (Gateway first = replicas.getFirst();
          Gateway second = replicas.getLast()) {
        letsNobodyElseUseASession(first, second, WITH_KEYS);
        assertThat(redis.keys()).noneMatch(key -> key.contains(ALICE.value()));
      }
    }
  }

  /**
   * Who asks.
   *
   * @param owner the credentials of whom the session belongs to
   * @param others those of others, who may use the gateway
   * @param strangers those of who may not
   */
  private record Askers(String owner, List<String> others, List<String> strangers) {}

  private static final Askers WITH_KEYS =
      new Askers(
          ALICE.value(),
          List.of(BOB.value()),
          List.of(NO_KEY, AccessKey.random().value(), ALICE.hash()));

  @Test
  void shouldLetNobodyElseUseASessionWithATokenOfAnIssuer() throws IOException {
    try (RedisFixture redis = RedisFixture.start();
        OpenIdProvider issuer = OpenIdProvider.start();
        OpenIdProvider otherIssuer = OpenIdProvider.start();
        OpenIdProvider unknownIssuer = OpenIdProvider.start()) {
      Map<String, String> settings = new HashMap<>(KEYS);
      settings.put("holdfast.auth.public-url", PUBLIC_URL);
      settings.put("holdfast.auth.issuers.one.url", issuer.issuer());
      settings.put("holdfast.auth.issuers.other.url", otherIssuer.issuer());
      settings.putAll(redis.gatewaySettings());
      String mcp = PUBLIC_URL + "/mcp";
      String owner = issuer.token("alice", mcp, "tools");
      Askers withTokens =
          new Askers(
              owner,
              List.of(
                  issuer.token("bob", mcp, "tools"),
                  otherIssuer.token("alice", mcp, "tools"),
                  ALICE.value()),
              List.of(
                  NO_KEY,
                  AccessKey.random().value(),
                  issuer.token("expired", mcp, "tools"),
                  issuer.token("alice", PUBLIC_URL + "/servers/other/mcp", "tools"),
                  issuer.token("alice", "https://elsewhere.example/mcp", "tools"),
                  unknownIssuer.token("alice", mcp, "tools")));
      List<Gateway> replicas = Gateway.startPair(settings);
      try (Gateway first = replicas.getFirst();
          Gateway second = replicas.getLast()) {
        letsNobodyElseUseASession(first, second, withTokens);
        goesOnWithANewTokenOfTheSameSubject(first, second, issuer);
        asksForAKeyOnEveryPath(first);
        describesTheEndpoints(first, issuer, otherIssuer);
        endsStreamsWithTheirTokens(first, second, issuer);
        opensNoOtherUpstream(first, issuer);
        tellsThatIssuersAreThere(first, otherIssuer);
        assertThat(first.output() + second.output())
            .contains("requests need a token issuers=")
            .doesNotContain(owner, issuer.token("bob", mcp, "tools"));
        assertThat(redis.keys()).noneMatch(key -> key.contains(owner));
      }
    }
  }

  private static void goesOnWithANewTokenOfTheSameSubject(
      Gateway first, Gateway second, OpenIdProvider issuer) {
    String mcp = PUBLIC_URL + "/mcp";
    String session = initialize(first, issuer.token("alice", mcp, "tools"));
    String later = issuer.token("alice", PUBLIC_URL + "/sse", "tools files");
    Request ping = Request.mcp("POST", "", PING);
    assertThat(ping.send(first, later, session).status()).isEqualTo(200);
    assertThat(ping.send(second, later, session).status()).isEqualTo(200);
  }

  /** RFC 9728. Nothing of the request gets into the answers. */
  private static void describesTheEndpoints(
      Gateway gateway, OpenIdProvider issuer, OpenIdProvider otherIssuer) {
    int port = gateway.url().getPort();
    for (String path : List.of("/mcp", "/sse", "/servers/other/mcp", "/servers/other/sse")) {
      String metadata = PUBLIC_URL + "/.well-known/oauth-protected-resource" + path;
      String end = " HTTP/1.1\r\nHost: localhost\r\nConnection: close";
      assertThat(HostileClient.exchange(port, "GET " + path + end, "").text())
          .startsWith("HTTP/1.1 401")
          .contains(", resource_metadata=\"" + metadata + "\"");
      String described =
          HostileClient.exchange(port, "GET /.well-known/oauth-protected-resource" + path + end, "")
              .text();
      assertThat(described)
          .startsWith("HTTP/1.1 200")
          .contains(
              "\"resource\":\"" + PUBLIC_URL + path + "\"", issuer.issuer(), otherIssuer.issuer());
      if (path.contains("other")) {
        assertThat(described).contains("\"scopes_supported\":[\"other\"]");
      }
    }
    assertThat(challenge(port, "/calls/x/stream")).contains("protected-resource/mcp\"");
    assertThat(challenge(port, "/servers/other/calls/x/stream"))
        .contains("protected-resource/servers/other/mcp\"");
    for (String path :
        List.of("/", "/servers/unknown/mcp", "/servers/default/mcp", "/messages/x")) {
      assertThat(
              HostileClient.exchange(
                      port,
                      "GET /.well-known/oauth-protected-resource"
                          + path
                          + " HTTP/1.1\r\nHost: localhost\r\nConnection: close",
                      "")
                  .status())
          .as(path)
          .isIn(401, 404);
    }
  }

  private static String challenge(int port, String path) {
    return HostileClient.exchange(
            port, "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close", "")
        .text();
  }

  /** The call goes on, and the client follows it with its next token. */
  private static void endsStreamsWithTheirTokens(
      Gateway first, Gateway second, OpenIdProvider issuer) throws IOException {
    String mcp = PUBLIC_URL + "/mcp";
    String session = initialize(first, issuer.token("brief", mcp, "tools"));
    String brief = issuer.token("brief", mcp, "tools");
    Request countdown = Request.mcp("POST", "", COUNTDOWN);
    String last;
    try (Stream call = Stream.open(first, countdown, brief, session)) {
      List<String> lines = call.rest();
      assertThat(lines).anyMatch(line -> line.startsWith("retry:"));
      assertThat(lines).noneMatch(line -> line.contains("\"result\""));
      last = lines.stream().filter(line -> line.startsWith("id:")).toList().getLast().substring(3);
    }
    Request resume = Request.mcp("GET", "Last-Event-ID: " + last.strip() + "\r\n", "");
    assertThat(resume.send(second, brief, session).status()).isEqualTo(401);
    String event = last.strip();
    while (true) {
      String next = issuer.token("brief", mcp, "tools");
      Request again = Request.mcp("GET", "Last-Event-ID: " + event + "\r\n", "");
      try (Stream rest = Stream.open(second, again, next, session)) {
        List<String> lines = rest.rest();
        if (lines.stream().anyMatch(line -> line.contains("\"result\""))) {
          return;
        }
        List<String> ids = lines.stream().filter(line -> line.startsWith("id:")).toList();
        event = ids.isEmpty() ? event : ids.getLast().substring(3).strip();
        assertThat(lines).anyMatch(line -> line.startsWith("retry:"));
      }
    }
  }

  private static void tellsThatIssuersAreThere(Gateway gateway, OpenIdProvider issuer) {
    int port = gateway.url("/q/health/ready").getPort();
    String health = "GET /q/health/well HTTP/1.1\r\nHost: localhost\r\nConnection: close";
    assertThat(HostileClient.exchange(port, health, "").text())
        .startsWith("HTTP/1.1 200")
        .contains("\"" + issuer.issuer() + "\": \"up\"");
  }

  private static void opensNoOtherUpstream(Gateway gateway, OpenIdProvider issuer) {
    String other = PUBLIC_URL + "/servers/other/mcp";
    Request initialize = new Request("POST", "/servers/other/mcp", "", INITIALIZE);
    assertThat(initialize.send(gateway, issuer.token("alice", other, "other"), "").text())
        .startsWith("HTTP/1.1 403")
        .contains("insufficient_scope", "scope=\"other\"", "resource_metadata=");
    assertThat(
            initialize
                .send(gateway, issuer.token("alice", PUBLIC_URL + "/mcp", "tools"), "")
                .text())
        .startsWith("HTTP/1.1 401")
        .contains("invalid_token", "The token is for another resource");
  }

  private static void letsNobodyElseUseASession(Gateway first, Gateway second, Askers askers)
      throws IOException {
    String owner = askers.owner();
    String session = initialize(first, owner);
    Request notification = Request.mcp("POST", "", NOTIFICATION);
    assertThat(notification.send(first, owner, session).status()).isEqualTo(202);
    Pattern elicitation =
        Pattern.compile("\"id\":(\"[^\"]+\"|\\d+),\"method\":\"elicitation/create\"");
    try (Stream call = Stream.open(first, Request.mcp("POST", "", GREET), owner, session);
        Stream sse = Stream.open(first, new Request("GET", "/sse", "", ""), owner, "")) {
      String handle = call.await(Pattern.compile("Holdfast-Call: (\\S+)"));
      String answer =
          """
          {"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"name":"%%s"}}}\
          """
              .formatted(call.await(elicitation));
      String legacy = sse.await(Pattern.compile("data: ?/messages/(\\S+)"));

      for (Gateway replica : List.of(first, second)) {
        assertThatRefused(replica, requests(answer.formatted("Bob")), session, askers);
        assertThatRefused(replica, legacyRequests(), legacy, askers);
        assertThatRefused(replica, callRequests(), handle, askers);
        // Has no body to compare.
        Request head = new Request("HEAD", "/calls/" + FOREIGN + "/stream", "", "");
        assertThat(askers.others())
            .allMatch(other -> head.send(replica, other, handle).status() == 404);
        assertThat(askers.strangers())
            .allMatch(stranger -> head.send(replica, stranger, handle).status() == 401);
        assertThat(head.send(replica, owner, handle).status()).isEqualTo(200);
      }

      // All of it is still there for its owner, and nothing of the others has reached it.
      Response answered =
          Request.mcp("POST", "", answer.formatted("Alice")).send(second, owner, session);
      assertThat(answered.status()).isEqualTo(202);
      assertThat(call.await(Pattern.compile("Hello, (\\w+)!"))).isEqualTo("Alice");
      for (Request request : callRequests()) {
        assertThat(request.send(second, owner, handle).status()).as("%s", request).isIn(200, 204);
      }
      assertThat(Request.mcp("POST", "", PING).send(second, owner, session).status())
          .isEqualTo(200);
      Request initialize = new Request("POST", "/messages/" + FOREIGN, "", INITIALIZE);
      assertThat(initialize.send(second, owner, legacy).status()).isEqualTo(202);
      assertThat(sse.await(Pattern.compile("\"id\":(\\d+)"))).isEqualTo("0");
      Request end = new Request("DELETE", "/messages/" + FOREIGN, "", "");
      assertThat(end.send(second, owner, legacy).status()).isEqualTo(204);
      assertThat(Request.mcp("DELETE", "", "").send(first, owner, session).status()).isEqualTo(204);
    }
  }

  /** Another owner gets the same as for an unknown session, and who has no key learns nothing. */
  private static void assertThatRefused(
      Gateway gateway, List<Request> requests, String session, Askers askers) {
    SoftAssertions softly = new SoftAssertions();
    for (Request request : requests) {
      String unknown = SessionId.random().value();
      for (String other : askers.others()) {
        Response foreign = request.send(gateway, other, session);
        softly.assertThat(foreign.status()).as("%s", request).isEqualTo(404);
        softly
            .assertThat(foreign.text().replace(session, unknown))
            .as("%s", request)
            .isEqualTo(request.send(gateway, other, unknown).text());
      }
      for (String key : askers.strangers()) {
        Response refused = request.send(gateway, key, session);
        softly.assertThat(refused.status()).as("%s", request).isEqualTo(401);
        softly
            .assertThat(refused.text())
            .as("%s", request)
            .contains("WWW-Authenticate: Bearer realm=\"holdfast\"", "\"jsonrpc\":\"2.0\"")
            .isEqualTo(request.send(gateway, key, unknown).text());
      }
    }
    softly.assertAll();
  }

  private static final List<String> TARGETS =
      List.of(
          "/mcp",
          "/mcp/",
          "/calls/x/stream",
          "/servers/other/calls/x/stream",
          "/MCP",
          "/mcp.",
          "/mcp;",
          "/mcp;a=b",
          "/mcp%3B",
          "/mcp%2F",
          "/%6dcp",
          "//mcp",
          "/./mcp",
          "/health/../mcp",
          "/health/%2e%2e/mcp",
          "/health;/../mcp",
          "/health%2F..%2Fmcp",
          "/q/health/../../mcp",
          "/mcp?/health",
          "/mcp#/health",
          "/mcp%00/health",
          "/mcp\\..\\health",
          "/servers/other/mcp",
          "/servers/other;/mcp",
          "/servers//mcp",
          "/servers/%2e%2e/mcp",
          "/servers/%2Fother/mcp",
          "/mcp/sse",
          "/sse",
          "/sse;",
          "//sse",
          "/servers/other/sse",
          "/messages/" + "a".repeat(SessionId.LENGTH),
          "/servers/other/messages/" + "a".repeat(SessionId.LENGTH),
          "http://localhost/mcp",
          "http://localhost:1//mcp");

  private static final List<String> HOSTS =
      List.of(
          "HTTP/1.1\r\nHost: localhost\r\n",
          "HTTP/1.1\r\nHost: LOCALHOST:80\r\n",
          "HTTP/1.0\r\nHost: localhost\r\n",
          "HTTP/1.0\r\n");

  private static void asksForAKeyOnEveryPath(Gateway gateway) {
    SoftAssertions softly = new SoftAssertions();
    for (String target : TARGETS) {
      for (String host : HOSTS) {
        for (String method : List.of("POST", "GET", "DELETE", "OPTIONS")) {
          String head =
              "%s %s %sConnection: close\r\nAccept: application/json, text/event-stream\r\n"
                      .formatted(method, target, host)
                  + "Content-Type: application/json\r\nContent-Length: 0";
          Response response = HostileClient.exchange(gateway.url().getPort(), head, "");
          softly
              .assertThat(response.status())
              .as("%s", head)
              .isIn(host.contains("Host") ? List.of(401, 400) : List.of(400));
          softly.assertThat(response.text()).as("%s", head).doesNotContain("Mcp-Session-Id:");
        }
      }
    }
    softly.assertAll();
  }

  private static void answersPagesThatLackAKey(Gateway gateway) {
    int port = gateway.url().getPort();
    String allowed = "Host: localhost\r\nConnection: close\r\nOrigin: http://localhost:3000";
    String foreign = "Host: localhost\r\nConnection: close\r\nOrigin: https://evil.example";

    assertThat(HostileClient.exchange(port, "GET /mcp HTTP/1.1\r\n" + allowed, "").text())
        .startsWith("HTTP/1.1 401")
        .contains("Access-Control-Allow-Origin: http://localhost:3000", "WWW-Authenticate");
    String preflight = allowed + "\r\nAccess-Control-Request-Method: POST";
    assertThat(HostileClient.exchange(port, "OPTIONS /mcp HTTP/1.1\r\n" + preflight, "").text())
        .startsWith("HTTP/1.1 204")
        .contains("Authorization");
    assertThat(HostileClient.exchange(port, "GET /mcp HTTP/1.1\r\n" + foreign, "").status())
        .isEqualTo(403);
    // The body never comes, so a gateway that read it first would not answer.
    String unfinished = allowed + "\r\nContent-Type: application/json\r\nContent-Length: 100";
    assertThat(HostileClient.exchange(port, "POST /mcp HTTP/1.1\r\n" + unfinished, "").status())
        .isEqualTo(401);
    assertThat(HostileClient.exchange(port, "GET /health HTTP/1.1\r\n" + allowed, "").status())
        .isEqualTo(200);
    assertThat(gateway.isReady()).isTrue();
  }

  private static void asksForTheScopeOfAnUpstream(Gateway gateway) {
    String other = "/servers/other";
    Request initialize = new Request("POST", other + "/mcp", "", INITIALIZE);
    assertThat(initialize.send(gateway, ALICE.value(), "").status()).isEqualTo(502);

    for (Request request :
        List.of(
            initialize,
            new Request("GET", other + "/mcp", "Mcp-Session-Id: " + FOREIGN + "\r\n", ""),
            new Request("DELETE", other + "/mcp", "Mcp-Session-Id: " + FOREIGN + "\r\n", ""),
            new Request("GET", other + "/sse", "", ""),
            new Request("POST", other + "/messages/" + FOREIGN, "", PING),
            new Request("DELETE", other + "/messages/" + FOREIGN, "", ""))) {
      assertThat(request.send(gateway, BOB.value(), SessionId.random().value()).text())
          .startsWith("HTTP/1.1 403")
          .contains(
              "WWW-Authenticate: Bearer realm=\"holdfast\", error=\"insufficient_scope\","
                  + " scope=\"other\"",
              "\"jsonrpc\":\"2.0\"");
    }
  }
}
