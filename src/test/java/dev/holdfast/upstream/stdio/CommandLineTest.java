package dev.holdfast.upstream.stdio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class CommandLineTest {

  static Stream<Arguments> lines() {
    return Stream.of(
        Arguments.of("npx -y server", List.of("npx", "-y", "server")),
        Arguments.of("  a\t b\n", List.of("a", "b")),
        Arguments.of("", List.of()),
        Arguments.of("a 'b c' \"d e\"", List.of("a", "b c", "d e")),
        Arguments.of("a '' \"\"", List.of("a", "", "")),
        Arguments.of("--x='1 2'3", List.of("--x=1 23")),
        Arguments.of("a\\ b \\'c \\\\", List.of("a b", "'c", "\\")),
        Arguments.of("'a\\b' \"c\\d\"", List.of("a\\b", "c\\d")),
        Arguments.of("\"a \\\"b\\\" \\\\\"", List.of("a \"b\" \\")),
        Arguments.of("\"it's\" '\"'", List.of("it's", "\"")),
        Arguments.of("a $B *.c | d", List.of("a", "$B", "*.c", "|", "d")),
        Arguments.of("a,b", List.of("a,b")));
  }

  @ParameterizedTest
  @MethodSource("lines")
  void shouldSplitLikeShell(String line, List<String> words) {
    assertThat(CommandLine.parse(line)).isEqualTo(words);
  }

  @ParameterizedTest
  @ValueSource(strings = {"a 'b", "a \"b", "\"a\\\"", "a \\", "'"})
  void shouldRefuseUnfinishedText(String line) {
    assertThatThrownBy(() -> CommandLine.parse(line))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("command ");
  }
}
