package dev.holdfast.sse;

import static dev.holdfast.sse.Received.message;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SseParserTest {

  private final SseParser parser = new SseParser(1 << 20, 1 << 20);
  private final Received received = new Received();

  @Test
  void shouldDispatchAtTheEmptyLine() {
    feed("data: one\n");
    assertThat(received.items()).isEmpty();

    feed("\n");

    assertThat(received.items()).containsExactly(message("one"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"\n", "\r", "\r\n"})
  void shouldEndLinesAtEveryLineEnd(String end) {
    feed(String.join(end, "event: e", "id: 1", "data: a", "data: b", "", "data: c", "", ""));

    assertThat(received.items())
        .containsExactly(new Received.Event("e", "1", "a\nb"), message("1", "c"));
  }

  @Test
  void shouldEndLineAtCarriageReturnBeforeNextChunk() {
    feed("data: one\r");
    feed("\r");

    assertThat(received.items()).containsExactly(message("one"));
  }

  @Test
  void shouldJoinCrLfAcrossChunks() {
    feed("data: a\r");
    feed("");
    feed("\ndata: b\r");
    feed("\n\r");
    feed("\n");

    assertThat(received.items()).containsExactly(message("a\nb"));
  }

  @Test
  void shouldCountLfCrAsTwoLineEnds() {
    feed("data: a\n\rdata: b\n\n");

    assertThat(received.items()).containsExactly(message("a"), message("b"));
  }

  @Test
  void shouldStripOneByteOrderMark() {
    feed("\uFEFFdata: a\n\n\uFEFFdata: b\n\ndata: \uFEFFc\n\n");

    assertThat(received.items()).containsExactly(message("a"), message("\uFEFFc"));
  }

  @Test
  void shouldTreatSecondByteOrderMarkAsContent() {
    feed("\uFEFF\uFEFFdata: a\n\ndata: b\n\n");

    assertThat(received.items()).containsExactly(message("b"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"\u00EF", "\u00EF\u00BB", "\u00EF\u00BB\u00BE"})
  void shouldTreatIncompleteByteOrderMarkAsContent(String start) {
    feed((start + "data: a\n\ndata: b\n\n").getBytes(ISO_8859_1));

    assertThat(received.items()).containsExactly(message("b"));
  }

  @Test
  void shouldReportCommentsAndSkipTheirText() {
    feed(": data: x\n:\n\ndata: a\n:inside\ndata: b\n\n");

    assertThat(received.items())
        .containsExactly(
            new Received.Comment(),
            new Received.Comment(),
            new Received.Comment(),
            message("a\nb"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '>',
      ignoreLeadingAndTrailingWhitespace = false,
      value = {
        "data:x>x",
        "data: x>x",
        "data:  x> x",
        "data:\tx>\tx",
        "data:x >x ",
        "data:a:b:c>a:b:c",
        "data: : >: ",
        "data::>:"
      })
  void shouldReadValueAfterFirstColonWithoutOneSpace(String line, String value) {
    feed(line + "\n\n");

    assertThat(received.items()).containsExactly(message(value));
  }

  @ParameterizedTest
  @ValueSource(strings = {"data", "data:", "data: "})
  void shouldDispatchEmptyData(String line) {
    feed("id: 7\n" + line + "\n\n");

    assertThat(received.items()).containsExactly(message("7", ""));
  }

  @Test
  void shouldJoinEmptyDataLines() {
    feed("data\ndata\n\ndata:\n\ndata: a\ndata\ndata: b\n\n");

    assertThat(received.items()).containsExactly(message("\n"), message(""), message("a\n\nb"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {" data: x", "Data: x", "DATA: x", "dat: x", "datax: x", "data : x", "foo", "é: x"})
  void shouldIgnoreOtherFields(String line) {
    feed(line + "\n\n");

    assertThat(received.items()).isEmpty();
  }

  @Test
  void shouldUseTheLastTypeOfABlockAndForgetItAfterwards() {
    feed("event: a\nevent: b\ndata: 1\n\ndata: 2\n\nevent: c\n\ndata: 3\n\n");
    feed("event: b\ndata: 4\n\nevent: b\nevent\ndata: 5\n\nevent: message\ndata: 6\n\n");

    assertThat(received.events())
        .extracting(Received.Event::type, Received.Event::data)
        .map(Object::toString)
        .containsExactly(
            "(\"b\", \"1\")",
            "(\"message\", \"2\")",
            "(\"message\", \"3\")",
            "(\"b\", \"4\")",
            "(\"message\", \"5\")",
            "(\"message\", \"6\")");
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "5000, 5000",
    "000000000000000000000000000012, 12",
    "2147483647, 2147483647",
    "2147483648, 2147483647",
    "99999999999999999999999999999999, 2147483647"
  })
  void shouldReportRetryAtOnce(String value, long millis) {
    feed("retry: " + value + "\n");

    assertThat(received.items()).containsExactly(new Received.Retry(Duration.ofMillis(millis)));
    assertThat(parser.retry()).contains(Duration.ofMillis(millis));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"retry", "retry:", "retry: -1", "retry: 1s", "retry:  1", "retry: 1 ", "retry: ٣"})
  void shouldIgnoreARetryThatIsNotDigitsOnly(String line) {
    feed("retry: 8\n" + line + "\n");

    assertThat(parser.retry()).contains(Duration.ofMillis(8));
  }

  @Test
  void shouldReplaceInvalidUtf8() {
    feed("event: \u00FFe\nid: \u00C3\ndata: a\u0080b\ndata: \u00E2\u0082\n\n".getBytes(ISO_8859_1));

    assertThat(received.items())
        .containsExactly(new Received.Event("\uFFFDe", "\uFFFD", "a\uFFFDb\n\uFFFD"));
  }

  @Test
  void shouldCopyDataThatOutlivesTheCallback() {
    byte[] chunk = "data: one\n\ndata: two\n\n".getBytes(UTF_8);
    List<byte[]> copies = new ArrayList<>();

    parser.feed(chunk, 0, chunk.length, event -> copies.add(event.data()));
    Arrays.fill(chunk, (byte) 'x');

    assertThat(copies).map(copy -> new String(copy, UTF_8)).containsExactly("one", "two");
  }

  @Test
  void shouldNotDependOnReusedChunk() {
    byte[] chunk = "--event: e\nid: 1\ndata: one\nda--".getBytes(UTF_8);
    parser.feed(chunk, 2, chunk.length - 4, received);
    Arrays.fill(chunk, (byte) 'x');

    feed("ta: two\n\n");

    assertThat(received.items()).containsExactly(new Received.Event("e", "1", "one\ntwo"));
  }

  private void feed(String text) {
    feed(text.getBytes(UTF_8));
  }

  private void feed(byte[] chunk) {
    parser.feed(chunk, 0, chunk.length, received);
  }
}
