package dev.holdfast.sse;

import static dev.holdfast.sse.Received.message;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.ByteArrayOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SseParserLimitTest {

  private static final int CHUNK = 64 * 1024;

  private final Received received = new Received();

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 7, 1000})
  void shouldAcceptLineAtLimitAndRefuseLonger(int chunkSize) {
    SseParser parser = new SseParser(9, 100);

    SseLimitException thrown =
        catchThrowableOfType(
            SseLimitException.class,
            () -> feed(parser, "\uFEFFdata: 123\r\n\r\ndata: 1234\r\n\r\n", chunkSize));

    assertThat(received.items()).containsExactly(message("123"));
    assertThat(thrown).hasMessage("SSE line exceeds 9 bytes");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 7, 1000})
  void shouldAcceptEventAtLimitAndRefuseLarger(int chunkSize) {
    SseParser parser = new SseParser(100, 5);

    SseLimitException thrown =
        catchThrowableOfType(
            SseLimitException.class,
            () -> feed(parser, "data: 12\ndata: 34\n\ndata: 12\ndata: 345\n\n", chunkSize));

    assertThat(received.items()).containsExactly(message("12\n34"));
    assertThat(thrown).hasMessage("data of an SSE event exceeds 5 bytes");
  }

  /** The reader keeps the id and sends it as a header. */
  @Test
  void shouldRefuseALongId() {
    SseParser parser = new SseParser(10_000, 10_000);
    String longest = "1".repeat(1024);

    feed(parser, "id: " + longest + "\ndata: a\n\n", 100);
    SseLimitException thrown =
        catchThrowableOfType(
            SseLimitException.class, () -> feed(parser, "id: " + longest + "1\n", 100));

    assertThat(received.items()).containsExactly(message(longest, "a"));
    assertThat(thrown).hasMessage("SSE event id exceeds 1024 bytes");
  }

  @Test
  void shouldRefuseLongType() {
    SseParser parser = new SseParser(5000, 5000);

    assertThatThrownBy(() -> feed(parser, "event: " + "e".repeat(1025) + "\n", 100))
        .hasMessage("SSE event type exceeds 1024 bytes");
  }

  /** A buffer is larger than its content. */
  @Test
  void shouldCountTheBuffersItHolds() {
    SseParser parser = new SseParser(5000, 5000);

    feed(parser, "data: " + "1".repeat(1000) + "\ndata: " + "6".repeat(2000), 7);
    int begun = parser.heldBytes();
    feed(parser, "\n\n", 100);

    assertThat(begun).isBetween(3100, 4500);
    assertThat(parser.heldBytes()).isZero();
  }

  @Test
  void shouldRefuseLongLineBeforeItsEnd() {
    SseParser parser = new SseParser(10, 10);

    assertThatThrownBy(() -> feed(parser, ": 123456789", 4)).isInstanceOf(SseLimitException.class);
  }

  @Test
  void shouldRefuseBytesAfterALimitUntilReset() {
    SseParser parser = new SseParser(10, 10);
    assertThatThrownBy(() -> feed(parser, "data: 123456789\n\n", 100))
        .isInstanceOf(SseLimitException.class);
    parser.end();

    assertThatThrownBy(() -> feed(parser, "data: a\n\n", 100))
        .isInstanceOf(IllegalStateException.class);

    parser.resume("");
    feed(parser, "data: b\n\n", 100);
    assertThat(received.items()).containsExactly(message("b"));
  }

  @Test
  void shouldApplyLimitToEachEvent() {
    SseParser parser = new SseParser(100, 4);

    feed(parser, "data: 1234\n\n".repeat(50) + ": comment\n".repeat(50), 5);

    assertThat(received.events()).hasSize(50);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void shouldParseEventsOfManyMegabytes(int lines) {
    SseParser parser = new SseParser(8 << 20, 16 << 20);
    String line = "0123456789abcdé".repeat(200_000);
    String data = (line + "\n").repeat(lines - 1) + line;
    SseWriter writer = new SseWriter();
    writer.event(null, "1", null, data.getBytes(UTF_8));
    writer.event(null, "2", null, "small".getBytes(UTF_8));

    feed(parser, new String(writer.take(), UTF_8), CHUNK);

    assertThat(received.items()).containsExactly(message("1", data), message("2", "small"));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, -1})
  void shouldRefuseLimitsThatAreNotPositive(int limit) {
    assertThatThrownBy(() -> new SseParser(limit, 1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new SseParser(1, limit)).isInstanceOf(IllegalArgumentException.class);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 7, 1000})
  void shouldSkipAnEventThatIsTooLarge(int chunkSize) {
    Skipping skipping = new Skipping();
    SseParser parser = new SseParser(20, 10);
    String stream =
        """
        id: 1
        data: {"a":1}

        id: 2
        data: {"a":
        data: 1}
        data: {"b":"0123456789"}
        : a comment
        data: end

        data:{"c":"01234567890123456789"}
        id: 3

        id: 4
        data: 4

        """;

    feed(parser, stream, chunkSize, skipping);

    assertThat(skipping.received.events())
        .containsExactly(
            message("1", "{\"a\":1}"), message("2", ""), message("3", ""), message("4", "4"));
    assertThat(skipping.skipped.toString(UTF_8).replace("\n", "").replace(" ", ""))
        .isEqualTo("{\"a\":1}{\"b\":\"0123456789\"}end{\"c\":\"01234567890123456789\"}");
  }

  @Test
  void shouldSkipAnUnfinishedEventOnDemand() {
    Skipping skipping = new Skipping();
    SseParser parser = new SseParser(5000, 5000);
    feed(parser, "id: 1\ndata: a\ndata: b\ndata: c", 100, skipping);

    parser.skip(skipping);
    assertThat(parser.heldBytes()).isLessThan(5000);
    feed(parser, "d\n\ndata: e\n\nid", 100, skipping);
    parser.skip(skipping);
    feed(parser, ": 2\ndata: f\n\n", 100, skipping);

    assertThat(skipping.skipped.toString(UTF_8)).isEqualTo("a\nbcdf");
    assertThat(skipping.received.events())
        .containsExactly(message("1", ""), message("1", "e"), message("2", ""));
  }

  /** A connection that breaks takes the event with it. */
  @Test
  void shouldSkipNothingOfTheNextConnection() {
    Skipping skipping = new Skipping();
    SseParser parser = new SseParser(20, 10);
    feed(parser, "data: 01234567890123456789", 100, skipping);

    parser.end();
    feed(parser, "data: a\n\n", 100, skipping);

    assertThat(skipping.received.items()).containsExactly(message("a"));
  }

  private static final class Skipping implements SseHandler {

    private final Received received = new Received();
    private final ByteArrayOutputStream skipped = new ByteArrayOutputStream();

    @Override
    public void event(SseEvent event) {
      received.event(event);
    }

    @Override
    public boolean skips() {
      return true;
    }

    @Override
    public void skipped(byte[] bytes, int from, int to) {
      skipped.write(bytes, from, to - from);
    }
  }

  private void feed(SseParser parser, String text, int chunkSize) {
    feed(parser, text, chunkSize, received);
  }

  private static void feed(SseParser parser, String text, int chunkSize, SseHandler received) {
    byte[] bytes = text.getBytes(UTF_8);
    for (int i = 0; i < bytes.length; i += chunkSize) {
      parser.feed(bytes, i, Math.min(chunkSize, bytes.length - i), received);
    }
  }
}
