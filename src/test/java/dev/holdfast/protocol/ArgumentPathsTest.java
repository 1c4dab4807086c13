package dev.holdfast.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ArgumentPathsTest {

  private static String schema(String properties) {
    return "{\"type\":\"object\",\"properties\":{" + properties + "}}";
  }

  private static String property(String name, String type, String header) {
    return "\"%s\":{\"type\":%s,\"x-mcp-header\":%s}".formatted(name, type, header);
  }

  @Test
  void shouldFindArgumentsInObjects() {
    String inner = schema(property("b", "\"boolean\"", "\"B\""));

    assertThat(
            ArgumentPaths.of(
                schema(property("a", "\"integer\"", "\"A\"") + ",\"x-mcp-header\":" + inner)))
        .contains(
            Map.of(
                "A",
                List.of("params", "arguments", "a"),
                "B",
                List.of("params", "arguments", "x-mcp-header", "b")));
  }

  @Test
  void shouldFindNothingInOtherSchemas() {
    assertThat(ArgumentPaths.of(null)).contains(Map.of());
    assertThat(ArgumentPaths.of(schema(""))).contains(Map.of());
    assertThat(ArgumentPaths.of(schema("\"a\":{\"title\":\"an \\\"x-mcp-header\\\": b\"}")))
        .contains(Map.of());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"\"",
        "\"a b\"",
        "\"a:\"",
        "\"\u00e4\"",
        "1",
        "\"A\", \"x\": {\"x-mcp-header\": \"b\"}"
      })
  void shouldRefuseOtherNames(String header) {
    assertThat(ArgumentPaths.of(schema(property("a", "\"string\"", header)))).isEmpty();
  }

  @Test
  void shouldRefuseOtherTypesAndPlaces() {
    String a = property("a", "\"string\"", "\"A\"");

    assertThat(ArgumentPaths.of(schema(property("a", "\"number\"", "\"A\"")))).isEmpty();
    assertThat(ArgumentPaths.of(schema(a + "," + property("b", "\"string\"", "\"a\"")))).isEmpty();
    assertThat(ArgumentPaths.of("{\"items\":" + schema(a) + "}")).isEmpty();
  }
}
