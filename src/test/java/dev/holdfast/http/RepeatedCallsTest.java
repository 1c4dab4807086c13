package dev.holdfast.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.testing.CuttableRequest;
import dev.holdfast.testing.RepeatingClient;
import dev.holdfast.testing.StatelessClient;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import jakarta.inject.Inject;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Checks calls that clients repeat, with {@code calls.attach-window}. */
@QuarkusTest
@Tag("quarkus")
@TestProfile(GatewayProfiles.Attaching.class)
class RepeatedCallsTest {

  private static final String TOOL = "manual";

  @Inject ControlledTool tool;

  private final String key = UUID.randomUUID().toString();
  private final String arguments = "{\"key\":\"" + key + "\"}";

  private static RepeatingClient client(int user, boolean hasSession) throws IOException {
    String secret = GatewayProfiles.Attaching.KEYS.get(user).value();
    return hasSession
        ? RepeatingClient.withSession(GatewayUrl.mcp(), secret)
        : RepeatingClient.withoutSession(GatewayUrl.mcp(), secret);
  }

  /** Starts a call, and waits until the server executes it. */
  private CuttableRequest begun(RepeatingClient client, int id) throws IOException {
    int before = tool.executions(key);
    CuttableRequest call = client.call(id, TOOL, arguments);
    await().until(() -> tool.executions(key) > before);
    return call;
  }

  private static void assertResult(String response, int id) {
    assertThat(response).contains("\"id\":" + id + ",", "finished").doesNotContain("\"error\"");
  }

  @ParameterizedTest
  @CsvSource({"true, true", "true, false", "false, true", "false, false"})
  void shouldJoinTheFirstCallFromAnotherSession(boolean first, boolean second) throws IOException {
    try (CuttableRequest cut = begun(client(0, first), 11)) {
      tool.send(key, "begun");
      cut.awaitText("begun");
      assertThat(cut.cut()).doesNotContain("finished");
    }

    try (CuttableRequest again = client(0, second).call(12, TOOL, arguments)) {
      // The second client gets the same messages as the first one.
      again.awaitText("begun");
      tool.send(key, "goes on");
      again.awaitText("goes on");
      tool.finish(key);

      assertResult(again.response(), 12);
    }
    assertThat(tool.executions(key)).isOne();
  }

  @Test
  void shouldReturnAResultOnceThatWasNotDelivered() throws IOException {
    try (CuttableRequest cut = begun(client(0, true), 11)) {
      assertThat(cut.cut()).doesNotContain("finished");
    }
    tool.finish(key);

    try (CuttableRequest again = client(0, true).call(12, TOOL, arguments)) {
      assertResult(again.response(), 12);
    }
    assertThat(tool.executions(key)).isOne();

    tool.finish(key);
    try (CuttableRequest another = client(0, true).call(13, TOOL, arguments)) {
      assertResult(another.response(), 13);
    }
    assertThat(tool.executions(key)).isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource({"true", "false"})
  void shouldExecuteACallAgainAfterItsResult(boolean hasSession) throws IOException {
    RepeatingClient client = client(0, hasSession);
    for (int id = 1; id <= 5; id++) {
      tool.finish(key);
      try (CuttableRequest call = client.call(id, TOOL, arguments)) {
        assertResult(call.response(), id);
      }
      assertThat(tool.executions(key)).isEqualTo(id);
    }
  }

  @Test
  void shouldIgnoreTheFormOfArgumentsAndMeta() throws IOException {
    String escaped = "\\u%04x".formatted((int) key.charAt(0)) + key.substring(1);
    String same = "{ \"key\" : \"" + escaped + "\" }";
    RepeatingClient client = client(0, true);
    try (CuttableRequest cut = client.call(11, TOOL, arguments)) {
      await().until(() -> tool.executions(key) == 1);
      String _ = cut.cut();
    }
    tool.finish(key);

    // The progress token is another one, too.
    try (CuttableRequest again = client.call(12, TOOL, same)) {
      assertResult(again.response(), 12);
    }
    assertThat(tool.executions(key)).isOne();
  }

  @Test
  void shouldNeverJoinTwoConnectedCalls() throws IOException {
    RepeatingClient client = client(0, true);
    try (CuttableRequest one = begun(client, 11);
        CuttableRequest two = begun(client, 12)) {
      tool.finish(key);
      tool.finish(key);

      assertResult(one.response(), 11);
      assertResult(two.response(), 12);
    }
    assertThat(tool.executions(key)).isEqualTo(2);
  }

  /** The client has the id of the first task, so a second call is meant. */
  @Test
  void shouldNeverJoinACallThatIsATask() {
    StatelessClient client =
        StatelessClient.at(GatewayUrl.mcp())
            .capableOf("{\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}")
            .with("Authorization", "Bearer " + GatewayProfiles.Attaching.KEYS.getFirst().value());
    String call = StatelessClient.params(TOOL, arguments);

    JsonNode one = client.ask("tools/call", call);
    JsonNode two = client.ask("tools/call", call);

    assertThat(one.at("/result/taskId").asText()).as(one.toString()).isNotEmpty();
    assertThat(two.at("/result/taskId").asText())
        .as(two.toString())
        .isNotEmpty()
        .isNotEqualTo(one.at("/result/taskId").asText());
    assertThat(tool.executions(key)).isEqualTo(2);
    tool.finish(key);
    tool.finish(key);
  }

  @Test
  void shouldNeverJoinCallsWithOtherArguments() throws IOException {
    RepeatingClient client = client(0, true);
    try (CuttableRequest cut = begun(client, 11)) {
      String _ = cut.cut();
    }
    String another = UUID.randomUUID().toString();
    tool.finish(another);
    try (CuttableRequest other = client.call(12, TOOL, "{\"key\":\"" + another + "\"}")) {
      assertResult(other.response(), 12);
    }
    assertThat(tool.executions(another)).isOne();
    tool.finish(key);
  }

  @Test
  void shouldNeverJoinCallsOfOtherPrincipals() throws IOException {
    int users = GatewayProfiles.Attaching.KEYS.size();
    for (int user = 0; user < users; user++) {
      try (CuttableRequest cut = begun(client(user, user % 2 == 0), 11)) {
        String _ = cut.cut();
      }
    }
    assertThat(tool.executions(key)).isEqualTo(users);

    List<CuttableRequest> calls = new ArrayList<>();
    for (int user = 0; user < users; user++) {
      calls.add(client(user, user % 2 == 1).call(100 + user, TOOL, arguments));
    }
    for (int user = 0; user < users; user++) {
      tool.finish(key);
    }
    for (int user = 0; user < users; user++) {
      try (CuttableRequest call = calls.get(user)) {
        assertResult(call.response(), 100 + user);
      }
    }
    assertThat(tool.executions(key)).isEqualTo(users);
  }
}
