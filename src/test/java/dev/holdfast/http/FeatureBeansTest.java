package dev.holdfast.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.McpClient;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Checks that the gateway serves its tool, resource and prompt beans without an upstream. */
@QuarkusTest
@Tag("quarkus")
@TestProfile(GatewayProfiles.Default.class)
class FeatureBeansTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "tools/list | {} | \"name\":\"manual\"",
        "resources/list | {} | \"uri\":\"holdfast://about\"",
        "resources/read | {\"uri\":\"holdfast://about\"} | a few tools to try it with",
        "prompts/list | {} | \"name\":\"cut\"",
        "prompts/get | {\"name\":\"cut\"} | tell me of the liftoff"
      })
  void shouldServeBeans(String method, String params, String part) {
    assertThat(
            McpClient.at(GatewayUrl.mcp())
                .post(
                    """
                    {"jsonrpc":"2.0","id":1,"method":"%s","params":%s}\
                    """
                        .formatted(method, params))
                .body())
        .contains(part);
  }
}
