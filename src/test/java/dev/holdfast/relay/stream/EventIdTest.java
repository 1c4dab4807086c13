package dev.holdfast.relay.stream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.call.SessionId;
import dev.holdfast.log.Position;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.AlphaChars;
import net.jqwik.api.constraints.Chars;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.NumericChars;
import net.jqwik.api.constraints.StringLength;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EventIdTest {

  @Property
  void shouldParseWhatItFormats(
      @ForAll @AlphaChars @NumericChars @StringLength(min = 1, max = 32) String stream,
      @ForAll @LongRange(min = 0) long millis,
      @ForAll @LongRange(min = 0) long number) {
    EventId id = new EventId(stream, new Position(millis, number));

    assertThat(EventId.parse(id.toString())).contains(id);
  }

  @Property
  void shouldAcceptOneFormOfEachId(
      @ForAll @Chars({'0', '1', '9', '-', '+', ' '}) @StringLength(max = 6) String noise) {
    String text = "g_" + noise;

    assertThat(EventId.parse(text).map(EventId::toString).orElse(text)).isEqualTo(text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "_",
        "g",
        "g_",
        "_1-1",
        "g_1",
        "g_1-",
        "g_-1",
        "g_1-1-1",
        "g__1-1",
        "g_1_1-1",
        "s-t_1-1",
        " g_1-1",
        "g_1-1 ",
        "g_1-1\n",
        "g\n_1-1",
        "g_+1-1",
        "g_1-+1",
        "g_01-1",
        "g_1-01",
        "g_00-1",
        "g_1.0-1",
        "g_0x1-1",
        "g_\u0661-1",
        "g_9223372036854775808-1",
        "g_1-9223372036854775808",
        "g_99999999999999999999999999999999999999999-1",
        "\u00e9_1-1",
        "abcdefghijklmnopqrstuvwxyz0123456_1-1",
      })
  void shouldRejectTextThatIsNoId(String text) {
    assertThat(EventId.parse(text)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "g_0-0",
        "g_1785000000000-1",
        "abcdefghijklmnopqrstuvwxyz012345_1-1",
        "g_9223372036854775807-9223372036854775807"
      })
  void shouldParseIdsUpToTheLimits(String text) {
    assertThat(EventId.parse(text).map(EventId::toString)).contains(text);
  }

  @Test
  void shouldParseAnIdWithASession() {
    // Every character of session ids; the separator is one of them.
    SessionId session = new SessionId("_a-B0_".repeat(7) + "_");
    EventId id = new EventId(session, "m", new Position(1_785_000_000_000L, 7));

    assertThat(id.toString()).isEqualTo(session.value() + "_m_1785000000000-7");
    assertThat(EventId.parseWithSession(id.toString())).contains(id);
    assertThat(EventId.parse(id.toString())).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "_", "m", "m_", "m_1", "m_1-", "__m_1-1", "x_m_1-1"})
  void shouldRejectAnIdWithoutASession(String text) {
    assertThat(EventId.parseWithSession(text)).isEmpty();
    assertThat(EventId.parseWithSession("x".repeat(43) + text)).isEmpty();
    assertThat(EventId.parseWithSession("x".repeat(43) + "_" + text)).isEmpty();
    assertThat(EventId.parseWithSession("x".repeat(42) + "_m_1-1")).isEmpty();
  }
}
