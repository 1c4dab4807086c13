package dev.holdfast.sse;

import static dev.holdfast.sse.Received.message;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The last event id, over events, connections and failures. */
class SseParserPositionTest {

  private final SseParser parser = new SseParser(1 << 20, 1 << 20);
  private final Received received = new Received();

  @Test
  void shouldStripTheByteOrderMarkOfEveryConnection() {
    feed("\uFEFFdata: a\n\n");
    parser.end();

    feed("\uFEFFdata: b\n\n");

    assertThat(received.items()).containsExactly(message("a"), message("b"));
  }

  @Test
  void shouldKeepTheLastEventIdOverEventsWithoutOne() {
    feed("id: 1\ndata: a\n\ndata: b\n\nid: 2\ndata: c\n\nid: 1\nid: 2\nid: 1\ndata: d\n\n");

    assertThat(received.items())
        .containsExactly(
            message("1", "a"), message("1", "b"), message("2", "c"), message("1", "d"));
  }

  @Test
  void shouldCommitTheIdOfABlockWithoutDataSilently() {
    feed("id: 5\n\n");

    assertThat(received.items()).isEmpty();
    assertThat(parser.lastEventId()).isEqualTo("5");
  }

  @Test
  void shouldCommitTheIdAtTheDispatchOnly() {
    feed("id: 1\ndata: a\n\nid: 2\ndata: b\n");
    assertThat(parser.lastEventId()).isEqualTo("1");

    feed("\n");

    assertThat(parser.lastEventId()).isEqualTo("2");
  }

  @Test
  void shouldShowTheIdOfTheEventToItsHandler() {
    List<String> ids = new ArrayList<>();
    byte[] document = "id: 1\ndata: a\n\n".getBytes(UTF_8);

    parser.feed(document, 0, document.length, event -> ids.add(parser.lastEventId()));

    assertThat(ids).containsExactly("1");
  }

  @ParameterizedTest
  @ValueSource(strings = {"id", "id:", "id: "})
  void shouldResetTheIdWithAnEmptyValue(String line) {
    feed("id: 1\ndata: a\n\n" + line + "\ndata: b\n\n");

    assertThat(received.items()).containsExactly(message("1", "a"), message("", "b"));
  }

  @Test
  void shouldIgnoreAnIdWithNul() {
    feed("id: 1\ndata: a\n\nid: 2\0\ndata: b\n\nid: 3\nid: \0\ndata: c\n\n");

    assertThat(received.items())
        .containsExactly(message("1", "a"), message("1", "b"), message("3", "c"));
  }

  @Test
  void shouldDiscardAnUnfinishedEventAndItsIdAtTheEnd() {
    feed("id: 1\ndata: a\n\nevent: e\nid: 2\nretry: 9\ndata: b\ndata: c");
    parser.end();

    feed("\ndata: d\n\n");

    assertThat(received.events()).containsExactly(message("1", "a"), message("1", "d"));
    assertThat(parser.lastEventId()).isEqualTo("1");
    assertThat(parser.retry()).contains(Duration.ofMillis(9));
  }

  @Test
  void shouldResumeFromGivenId() {
    parser.resume("s_17-4");

    feed("data: a\n\n");

    assertThat(received.items()).containsExactly(message("s_17-4", "a"));
    assertThat(parser.lastEventId()).isEqualTo("s_17-4");
  }

  @ParameterizedTest
  @ValueSource(strings = {"a\nb", "a\rb", "a\0b"})
  void shouldRefuseToResumeFromInvalidId(String id) {
    assertThatThrownBy(() -> parser.resume(id)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void shouldForgetEverythingOnReset() {
    feed("retry: 1\nid: 1\ndata: a\n\nevent: e\nid: 2\ndata: b\ndata");
    parser.resume("");

    feed("data: c\n\n");

    assertThat(received.events()).containsExactly(message("1", "a"), message("c"));
    assertThat(parser.lastEventId()).isEmpty();
    assertThat(parser.retry()).isEmpty();
  }

  @Test
  void shouldRefuseBytesAfterHandlerThrew() {
    byte[] document = "data: a\n\ndata: b\n\n".getBytes(UTF_8);
    SseHandler failing =
        event -> {
          throw new IllegalCallerException("no");
        };

    assertThatThrownBy(() -> parser.feed(document, 0, document.length, failing))
        .isInstanceOf(IllegalCallerException.class);

    assertThatThrownBy(() -> feed("data: c\n\n")).isInstanceOf(IllegalStateException.class);
    parser.resume("");
    feed("data: d\n\n");
    assertThat(received.items()).containsExactly(message("d"));
  }

  private void feed(String text) {
    feed(text.getBytes(UTF_8));
  }

  private void feed(byte[] chunk) {
    parser.feed(chunk, 0, chunk.length, received);
  }
}
