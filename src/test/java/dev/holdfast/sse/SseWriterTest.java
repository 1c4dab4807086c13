package dev.holdfast.sse;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SseWriterTest {

  private final SseWriter writer = new SseWriter();

  @Test
  void shouldWriteIdAndData() {
    writer.event(null, "s_17-1", null, bytes("{\"a\":1}"));

    assertThat(written()).isEqualTo("id: s_17-1\ndata: {\"a\":1}\n\n");
  }

  @Test
  void shouldWriteFieldsInTheirOrder() {
    writer.event("endpoint", "1", Duration.ofSeconds(5), bytes("/messages"));

    assertThat(written()).isEqualTo("event: endpoint\nid: 1\nretry: 5000\ndata: /messages\n\n");
  }

  @Test
  void shouldOmitAbsentFields() {
    writer.event(null, null, null, bytes("x"));

    assertThat(written()).isEqualTo("data: x\n\n");
  }

  @Test
  void shouldSplitDataAtEveryLineEnd() {
    writer.event(null, "1", null, bytes("a\nb\rc\r\nd\n\re\n"));

    assertThat(written())
        .isEqualTo("id: 1\ndata: a\ndata: b\ndata: c\ndata: d\ndata: \ndata: e\ndata: \n\n");
  }

  @Test
  void shouldWriteEmptyData() {
    writer.event(null, "1", null, bytes(""));

    assertThat(written()).isEqualTo("id: 1\ndata: \n\n");
  }

  @Test
  void shouldWriteThePrimingFrame() {
    writer.priming("s_0-0", Duration.ofMillis(500));

    assertThat(written()).isEqualTo("id: s_0-0\nretry: 500\ndata: \n\n");
  }

  @Test
  void shouldWriteTheReconnectionTimeAlone() {
    writer.retry(Duration.ZERO);

    assertThat(written()).isEqualTo("retry: 0\n\n");
  }

  @Test
  void shouldWriteComments() {
    writer.comment("");
    writer.comment("gap: é");

    assertThat(written()).isEqualTo(": \n\n: gap: é\n\n");
  }

  @Test
  void shouldWriteUtf8() {
    writer.event("e\u0301🎉", "é🎉", null, bytes("漢字"));

    assertThat(written()).isEqualTo("event: e\u0301🎉\nid: é🎉\ndata: 漢字\n\n");
  }

  @Test
  void shouldCollectFramesForOneWrite() {
    writer.event(null, "1", null, bytes("a"));
    writer.retry(Duration.ofMillis(1));

    assertThat(written()).isEqualTo("id: 1\ndata: a\n\nretry: 1\n\n");
  }

  @Test
  void shouldStartEmptyAfterTake() {
    writer.event(null, "1", null, bytes("a"));
    assertThat(written()).isEqualTo("id: 1\ndata: a\n\n");
    assertThat(writer.length()).isZero();

    writer.event(null, "2", null, bytes("b"));

    assertThat(written()).isEqualTo("id: 2\ndata: b\n\n");
    assertThat(writer.take()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a\nb", "a\rb", "a\0b", "\n", "a\uD800"})
  void shouldRefuseUnreadableId(String id) {
    assertThatThrownBy(() -> writer.event("t", id, null, bytes("x")))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> writer.event(null, id, null, bytes("x")))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> writer.priming(id, Duration.ZERO))
        .isInstanceOf(IllegalArgumentException.class);

    assertThat(writer.length()).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a\nb", "a\r", "\uDC00a"})
  void shouldRefuseUnreadableType(String type) {
    assertThatThrownBy(() -> writer.event(type, "1", null, bytes("x")))
        .isInstanceOf(IllegalArgumentException.class);

    assertThat(writer.length()).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"a\nb", "a\rdata: x"})
  void shouldRefuseACommentOfSeveralLines(String text) {
    assertThatThrownBy(() -> writer.comment(text)).isInstanceOf(IllegalArgumentException.class);

    assertThat(writer.length()).isZero();
  }

  @Test
  void shouldRefuseANegativeReconnectionTime() {
    Duration negative = Duration.ofMillis(-1);

    assertThatThrownBy(() -> writer.retry(negative)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> writer.priming("1", negative))
        .isInstanceOf(IllegalArgumentException.class);

    assertThat(writer.length()).isZero();
  }

  private String written() {
    return new String(writer.take(), UTF_8);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }
}
