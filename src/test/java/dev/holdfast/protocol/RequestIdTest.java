package dev.holdfast.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RequestIdTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0",
        "10",
        "-0",
        "-12",
        "1.0",
        "1e3",
        "1E-3",
        "99999999999999999999",
        "\"\"",
        "\" \"",
        "\"a\"",
        "\"é\"",
        "\"\\u0061\"",
        "\"\\\"\"",
        "\"😀\""
      })
  void shouldKeepJson(String json) {
    assertThat(new RequestId(json).json()).isEqualTo(json);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        " 1",
        "1 ",
        "01",
        "00",
        "+1",
        "1.",
        "-",
        "a",
        "\"",
        "\"a",
        "a\"",
        "\"a\"b\"",
        "\"\n\"",
        "\"\\\"",
        "\"\\x\"",
        "null",
        "true",
        "[1]",
        "{}",
        "1 2",
        "1,2",
        "\"a\" \"b\"",
        "\"\uD800\""
      })
  void shouldRefuseAnythingElse(String json) {
    assertThatIllegalArgumentException().isThrownBy(() -> new RequestId(json));
  }

  /**
   * A hash map falls back on a search through all keys with equal hashes, unless they are
   * comparable. Clients choose these keys.
   */
  @Test
  @Timeout(20)
  void shouldBeFoundAmongManyIdsWithEqualHashes() {
    Set<RequestId> ids = new HashSet<>();
    for (int i = 0; i < 1 << 16; i++) {
      ids.add(RequestId.of(withEqualHash(i)));
    }

    assertThat(ids.stream().mapToInt(RequestId::hashCode).distinct().count()).isEqualTo(1);
    assertThat(ids).hasSize(1 << 16);
    for (int i = 0; i < 1 << 16; i++) {
      assertThat(ids.contains(RequestId.of(withEqualHash(i)))).isTrue();
    }
  }

  /** "Aa" and "BB" have the same hash. */
  private static String withEqualHash(int bits) {
    StringBuilder text = new StringBuilder();
    for (int bit = 0; bit < 16; bit++) {
      text.append((bits >> bit & 1) == 0 ? "Aa" : "BB");
    }
    return text.toString();
  }

  @Test
  void shouldCompareConsistentlyWithEquals() {
    RequestId plain = RequestId.of("a/é");

    assertThat(plain.compareTo(new RequestId("\"\\u0061\\/\\u00E9\""))).isZero();
    assertThat(plain.compareTo(RequestId.of("b"))).isNegative();
    assertThat(RequestId.of(1).compareTo(RequestId.of("1"))).isNotZero();
  }

  @Test
  void shouldDistinguishTypesAndSpellings() {
    assertThat(RequestId.of(1)).isNotEqualTo(RequestId.of("1"));
    assertThat(RequestId.of(1)).isNotEqualTo(new RequestId("1.0"));
    assertThat(new RequestId("1000")).isNotEqualTo(new RequestId("1e3"));
    assertThat(new RequestId("9007199254740993")).isNotEqualTo(new RequestId("9007199254740992"));
    assertThat(RequestId.of("a")).isNotEqualTo(RequestId.of("A"));
  }

  @Test
  void shouldIgnoreEscapesInEquality() {
    RequestId plain = RequestId.of("a/é\"");
    RequestId escaped = new RequestId("\"\\u0061\\/\\u00E9\\\"\"");

    assertThat(escaped).isEqualTo(plain).hasSameHashCodeAs(plain);
    assertThat(escaped.json()).isNotEqualTo(plain.json());
    assertThat(new RequestId("\"\\\\u0061\"")).isNotEqualTo(RequestId.of("a"));
  }

  @Test
  void shouldWriteNumbersAndStrings() {
    assertThat(RequestId.of(-7).json()).isEqualTo("-7");
    assertThat(RequestId.of(Long.MIN_VALUE).json()).isEqualTo("-9223372036854775808");
    assertThat(RequestId.of("a\"\\\n\u0001é").json()).isEqualTo("\"a\\\"\\\\\\n\\u0001é\"");
    assertThatIllegalArgumentException().isThrownBy(() -> RequestId.of("\uD800"));
  }
}
