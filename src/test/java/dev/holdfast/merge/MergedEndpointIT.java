package dev.holdfast.merge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.testing.Frame;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.NodeFixture;
import dev.holdfast.testing.Ports;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.ServerProcess;
import dev.holdfast.testing.StatelessClient;
import dev.holdfast.testing.ToolRequest;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** One endpoint for several servers, with real ones behind it. */
class MergedEndpointIT {

  private static final String LIST = "{\"jsonrpc\":\"2.0\",\"id\":100,\"method\":\"tools/list\"}";
  private static final Pattern ID = Pattern.compile("\"id\":(\"[^,]+\")[,}]");

  private static Map<String, String> servers(String... namesAndUrls) {
    Map<String, String> settings = new HashMap<>();
    for (int i = 0; i < namesAndUrls.length; i += 2) {
      settings.put("holdfast.upstreams." + namesAndUrls[i] + ".url", namesAndUrls[i + 1]);
    }
    return settings;
  }

  @Test
  void shouldServeServersOfEveryKindToClientsOfBothEras() {
    try (NodeFixture old = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER);
        NodeFixture stateless = NodeFixture.start(NodeFixture.STATELESS_SERVER);
        NodeFixture legacy = NodeFixture.start(NodeFixture.LEGACY_SERVER)) {
      Map<String, String> settings =
          servers(
              "old", old.url().toString(),
              "new", stateless.url().toString(),
              "sse", legacy.url("/sse").toString());
      settings.put(
          "holdfast.upstreams.stdio.command",
          NodeFixture.commandLine(NodeFixture.CONFORMANCE_STDIO));
      settings.put("holdfast.merge.servers", "old,new,sse,stdio,default");
      try (Gateway gateway = Gateway.start(settings)) {
        McpClient client = McpClient.at(gateway.url()).ready();
        StatelessClient stranger = StatelessClient.at(gateway.url());

        for (String server : List.of("old", "new", "sse", "stdio")) {
          String tool = server + "__test_simple_text";
          assertThat(result(client, tool)).as(server).contains("simple text response");
          assertThat(stranger.ask("tools/call", StatelessClient.params(tool, "{}")).toString())
              .as(server)
              .contains("simple text response");
        }
        assertThat(client.post(LIST).body())
            .contains("\"old__count\"", "\"new__count\"", "\"stdio__count\"", "\"default__");
        assertThat(result(client, "test_simple_text")).contains("Unknown tool: test_simple_text");
      }
    }
  }

  @Test
  void shouldContinueACallAtAnyReplica() {
    try (NodeFixture one = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER);
        NodeFixture two = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER);
        RedisFixture redis = RedisFixture.start()) {
      Map<String, String> settings =
          servers("one", one.url().toString(), "two", two.url().toString());
      settings.putAll(redis.gatewaySettings());
      settings.put("holdfast.cluster.heartbeat", "200ms");
      settings.put("holdfast.cluster.dead-after", "2s");
      List<Gateway> pair = Gateway.startPair(settings);
      try (Gateway first = pair.getFirst();
          Gateway second = pair.getLast()) {
        McpClient client = McpClient.at(first.url()).ready();
        FrameStream call =
            client.stream(
                """
                {"jsonrpc":"2.0","id":200,"method":"tools/call","params":{"name":"two__count",\
                "arguments":{"n":40,"intervalMs":100},"_meta":{"progressToken":1}}}\
                """);
        for (int i = 0; i < 5; i++) {
          Frame.Event _ = call.event();
        }
        String last = call.lastEventId();
        first.kill();

        McpClient elsewhere = client.elsewhere(second.url());
        List<Frame.Event> rest = elsewhere.resume(last).events();

        assertThat(rest.getLast().data()).contains("\"result\"");
        assertThat(rest).hasSizeGreaterThan(30);
        assertThat(result(elsewhere, "one__test_simple_text")).contains("simple text response");
      }
    }
  }

  @Test
  void shouldTellTheQuestionsOfServersApart() {
    try (NodeFixture one = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER);
        NodeFixture two = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER);
        Gateway gateway =
            Gateway.start(servers("one", one.url().toString(), "two", two.url().toString()))) {
      McpClient client = McpClient.at(gateway.url()).ready();
      FrameStream first = client.call("one__test_elicitation", "{\"message\":\"first?\"}");
      FrameStream second = client.call("two__test_elicitation", "{\"message\":\"second?\"}");
      String ofFirst = question(first);
      String ofSecond = question(second);

      assertThat(ofFirst).startsWith("\"one/");
      assertThat(ofSecond).startsWith("\"two/");
      answer(client, ofSecond, "decline");
      answer(client, ofFirst, "accept");
      assertThat(first.events().getLast().data()).contains("accept");
      assertThat(second.events().getLast().data()).contains("decline");
    }
  }

  private static String question(FrameStream call) {
    while (true) {
      String data = call.event().data();
      if (data.contains("elicitation/create")) {
        Matcher id = ID.matcher(data);
        assertThat(id.find()).as(data).isTrue();
        return id.group(1);
      }
    }
  }

  private static void answer(McpClient client, String id, String action) {
    String content = action.equals("accept") ? ",\"content\":{\"response\":\"yes\"}" : "";
    assertThat(
            client
                .post(
                    "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"action\":\"%s\"%s}}"
                        .formatted(id, action, content))
                .statusCode())
        .isEqualTo(202);
  }

  @Test
  void shouldServeTheOthersWhileAServerIsAway() {
    int port = Ports.free();
    Map<String, String> settings;
    try (NodeFixture healthy = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER)) {
      settings =
          servers("up", healthy.url().toString(), "away", "http://127.0.0.1:" + port + "/mcp");
      try (Gateway gateway = Gateway.start(settings)) {
        McpClient client = McpClient.at(gateway.url()).ready();
        FrameStream changes = client.listen();
        String list = client.post(LIST).body();
        assertThat(list)
            .contains("up__count", "\"dev.holdfast/unavailable\":{\"away\":")
            .doesNotContain("away__");
        assertThat(result(client, "up__test_simple_text")).contains("simple text response");
        assertThat(result(client, "away__test_simple_text"))
            .contains("Unknown tool", "not available", "away=");

        try (NodeFixture _ =
            NodeFixture.start(NodeFixture.CONFORMANCE_SERVER, "--port", Integer.toString(port))) {
          await().untilAsserted(() -> assertThat(client.post(LIST).body()).contains("away__count"));
          assertThat(changes.event().data()).contains("list_changed");
          assertThat(result(client, "away__test_simple_text")).contains("simple text response");
        }
        // What it had is still listed, and a call tells why it fails.
        assertThat(client.post(LIST).body()).contains("away__count", "up__count");
        assertThat(client.call("away__test_simple_text", "{}").raw()).doesNotContain("simple text");
        assertThat(result(client, "up__test_simple_text")).contains("simple text response");
      }
    }
  }

  @Test
  void shouldOpenASessionAgainThatAServerHasLost() {
    String port = Integer.toString(Ports.free());
    try (NodeFixture other = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER)) {
      Map<String, String> settings =
          servers("other", other.url().toString(), "lost", "http://127.0.0.1:" + port + "/mcp");
      NodeFixture before = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER, "--port", port);
      try (Gateway gateway = Gateway.start(settings)) {
        McpClient client = McpClient.at(gateway.url()).ready();
        assertThat(result(client, "lost__test_simple_text")).contains("simple text response");
        before.close();
        try (NodeFixture _ = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER, "--port", port)) {
          assertThat(result(client, "lost__test_simple_text")).contains("simple text response");
          assertThat(result(client, "other__test_simple_text")).contains("simple text response");
        }
      } finally {
        before.close();
      }
    }
  }

  @Test
  void shouldLeaveRoomForOthersWhileOneServerIsFrozen() throws Exception {
    try (NodeFixture frozen = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER);
        NodeFixture other = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER)) {
      Map<String, String> settings =
          servers("frozen", frozen.url().toString(), "other", other.url().toString());
      settings.put("holdfast.upstreams.frozen.max-requests", "2");
      try (Gateway gateway = Gateway.start(settings)) {
        McpClient client = McpClient.at(gateway.url()).ready();
        assertThat(result(client, "frozen__test_simple_text")).contains("simple text response");
        ServerProcess.freeze(frozen.process());
        BlockingQueue<String> results = new LinkedBlockingQueue<>();
        for (int id = 1; id <= 3; id++) {
          String call = ToolRequest.of(id, "frozen__test_simple_text", "{}");
          Thread.startVirtualThread(() -> results.add(client.post(call).body()));
        }

        assertThat(results.take()).contains("no room");
        assertThat(result(client, "other__test_simple_text")).contains("simple text response");
        assertThat(results).isEmpty();
        ServerProcess.thaw(frozen.process());
        for (int i = 0; i < 2; i++) {
          assertThat(results.take()).contains("simple text response");
        }
      }
    }
  }

  @Test
  void shouldServeViews() {
    try (NodeFixture one = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER);
        NodeFixture two = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER)) {
      Map<String, String> settings =
          servers("one", one.url().toString(), "two", two.url().toString());
      settings.put("holdfast.merge.enabled", "false");
      settings.put("holdfast.views.team.servers", "two,one");
      settings.put("holdfast.views.team.naming", "priority");
      settings.put("holdfast.views.team.allow", "two/test_simple_text,one/count,one/touch");
      settings.put("holdfast.views.team.deny", "*/touch");
      settings.put("holdfast.views.team.rename.numbers", "one/count");
      settings.put("holdfast.views.team.max-sessions", "1");
      try (Gateway gateway = Gateway.start(settings)) {
        McpClient client = McpClient.at(gateway.url("/views/team/mcp")).ready();

        assertThat(names(client.post(LIST).body())).containsExactly("test_simple_text", "numbers");
        assertThat(result(client, "numbers", "{\"n\":1}")).contains("\"result\"");
        for (String hidden : List.of("count", "touch", "one__touch", "two__count", "one/count")) {
          assertThat(result(client, hidden)).as(hidden).contains("Unknown tool: " + hidden);
        }
        assertThat(McpClient.at(gateway.url("/views/team/mcp")).initialized().statusCode())
            .isEqualTo(429);
        assertThat(McpClient.at(gateway.url("/views/none/mcp")).initialized().statusCode())
            .isEqualTo(404);
        // The session of one endpoint is none of another.
        assertThat(client.elsewhere(gateway.url("/servers/one/mcp")).post(LIST).statusCode())
            .isEqualTo(404);
        assertThat(result(McpClient.at(gateway.url("/servers/one/mcp")), "touch"))
            .doesNotContain("Unknown tool");
      }
    }
  }

  @Test
  void shouldKeepRulesOfServersUnderEveryName() {
    try (NodeFixture one = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER);
        NodeFixture two = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER)) {
      Map<String, String> settings =
          servers("one", one.url().toString(), "two", two.url().toString());
      settings.put("holdfast.upstreams.one.deny-tools", "count");
      settings.put("holdfast.merge.rename.numbers", "one/count");
      settings.put("holdfast.audit", "true");
      settings.put("holdfast.audit-calls", "true");
      try (Gateway gateway = Gateway.start(settings)) {
        McpClient client = McpClient.at(gateway.url()).ready();

        assertThat(names(client.post(LIST).body()))
            .contains("two__count")
            .doesNotContain("one__count", "numbers", "count");
        for (String name : List.of("one__count", "numbers", "count", "one/count", "ONE__COUNT")) {
          assertThat(result(client, name)).as(name).contains("Unknown tool");
        }
        assertThat(result(client, "two__count", "{\"n\":1}")).contains("\"result\"");
        await()
            .untilAsserted(() ->
                assertThat(gateway.output())
                    .containsPattern("call.*upstream.*two.*tool.*\\bcount\\b"));
      }
    }
  }

  @Test
  void shouldFindAndCallToolsForClientsOfBothEras() {
    try (NodeFixture one = NodeFixture.start(NodeFixture.CONFORMANCE_SERVER);
        NodeFixture two = NodeFixture.start(NodeFixture.STATELESS_SERVER)) {
      Map<String, String> settings =
          servers("one", one.url().toString(), "two", two.url().toString());
      settings.put("holdfast.views.few.search", "true");
      settings.put("holdfast.views.few.deny", "one/touch");
      settings.put("holdfast.audit", "true");
      settings.put("holdfast.audit-calls", "true");
      try (Gateway gateway = Gateway.start(settings)) {
        McpClient client = McpClient.at(gateway.url("/views/few/mcp")).ready();
        StatelessClient stranger = StatelessClient.at(gateway.url("/views/few/mcp"));
        String find = "{\"query\":\"count\",\"limit\":2}";

        assertThat(names(client.post(LIST).body()))
            .filteredOn(name -> name.endsWith("_tool") || name.endsWith("_tools"))
            .containsExactly("find_tools", "call_tool");
        assertThat(client.post(LIST).body()).doesNotContain("__count");
        assertThat(result(client, "find_tools", find))
            .contains("\"name\":\"one__count\"", "\"name\":\"two__count\"", "\"inputSchema\"");
        JsonNode found =
            stranger.ask("tools/call", StatelessClient.params("find_tools", find)).path("result");
        assertThat(found.at("/structuredContent/tools")).hasSize(2);
        for (String server : List.of("one", "two")) {
          String call = call(server + "__count", "{\"n\":2,\"intervalMs\":1}");
          assertThat(result(client, "call_tool", call)).as(server).contains("counted 2");
          assertThat(
                  stranger.ask("tools/call", StatelessClient.params("call_tool", call)).toString())
              .as(server)
              .contains("counted 2");
        }
        FrameStream call =
            client.stream(
                """
                {"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"call_tool",\
                "arguments":{"name":"one__count","arguments":{"n":3,"intervalMs":10}},\
                "_meta":{"progressToken":"p"}}}\
                """);
        List<String> events = call.events().stream().map(Frame.Event::data).toList();
        assertThat(events).first().asString().contains("\"progressToken\":\"p\"");
        assertThat(events).last().asString().contains("\"id\":\"x\"", "counted 3");

        assertThat(result(client, "one__count", "{\"n\":1}")).contains("counted 1");
        assertThat(result(client, "find_tools", "{\"query\":\"touch\",\"limit\":20}"))
            .contains("\"two__touch\"")
            .doesNotContain("one__touch");
        for (String hidden : List.of("one__touch", "touch", "call_tool", "find_tools")) {
          assertThat(result(client, "call_tool", call(hidden, "{}")))
              .as(hidden)
              .contains("Unknown tool: " + hidden);
        }
        await()
            .untilAsserted(() ->
                assertThat(gateway.output())
                    .containsPattern("call.*upstream.*two.*tool.*\\bcount\\b"));
      }
    }
  }

  private static String call(String tool, String arguments) {
    return "{\"name\":\"%s\",\"arguments\":%s}".formatted(tool, arguments);
  }

  private static List<String> names(String list) {
    return Pattern.compile("\"name\":\"([^\"]+)\",")
        .matcher(list)
        .results()
        .map(found -> found.group(1))
        .toList();
  }

  private static String result(McpClient client, String tool) {
    return result(client, tool, "{}");
  }

  private static String result(McpClient client, String tool, String arguments) {
    try (FrameStream call = client.call(tool, arguments)) {
      return call.events().getLast().data();
    }
  }
}
