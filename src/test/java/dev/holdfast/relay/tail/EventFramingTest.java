package dev.holdfast.relay.tail;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.log.LogEvent;
import dev.holdfast.log.Position;
import dev.holdfast.sse.SseWriter;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class EventFramingTest {

  private static final Duration RETRY = Duration.ofSeconds(5);
  private static final Position POSITION = new Position(1785000000000L, 3);
  private static final EventFraming CURRENT = new EventFraming("abc", true, true, true, null);
  private static final EventFraming OLD_CLIENT = new EventFraming("abc", true, false, false, null);
  private static final EventFraming NO_RETRY = new EventFraming("abc", true, true, false, null);
  private static final EventFraming NO_REPLAY = new EventFraming("abc", false, true, true, null);

  private final SseWriter frames = new SseWriter();

  private String written() {
    return new String(frames.take(), UTF_8);
  }

  private static LogEvent event(String payload) {
    return new LogEvent(POSITION, payload.getBytes(UTF_8), null, payload.isEmpty());
  }

  @Test
  void shouldOpenWithAPrimingEvent() {
    CURRENT.opening(frames, Position.START, RETRY);

    assertThat(written()).isEqualTo("id: abc_0-0\nretry: 5000\ndata: \n\n");
  }

  /** Some clients give up a stream with a retry. */
  @Test
  void shouldWriteNoRetryForClientsThatFailAtIt() {
    NO_RETRY.opening(frames, Position.START, RETRY);
    NO_RETRY.closing(frames, RETRY);
    assertThat(written()).isEqualTo("id: abc_0-0\ndata: \n\n");

    new EventFraming("abc", true, true, false, "/to").opening(frames, Position.START, RETRY);
    assertThat(written()).isEqualTo("event: endpoint\nid: abc_0-0\ndata: /to\n\n");
  }

  @Test
  void shouldOpenAResumedStreamWithItsCursor() {
    CURRENT.opening(frames, POSITION, RETRY);

    assertThat(written()).isEqualTo("id: abc_1785000000000-3\nretry: 5000\ndata: \n\n");
  }

  @Test
  void shouldOpenWithACommentForClientsWithoutPriming() {
    OLD_CLIENT.opening(frames, Position.START, RETRY);

    assertThat(written()).isEqualTo(": \n\n");
  }

  @Test
  void shouldOpenWithACommentWithoutIds() {
    NO_REPLAY.opening(frames, Position.START, RETRY);

    assertThat(written()).isEqualTo(": \n\n");
  }

  /** No client could resume from it. */
  @Test
  void shouldWriteAnUnloggedEventWithoutAnId() {
    CURRENT.event(frames, new LogEvent(POSITION, "{}".getBytes(UTF_8), null, false, false));

    assertThat(written()).isEqualTo("data: {}\n\n");
  }

  @Test
  void shouldWriteAnEventWithItsId() {
    OLD_CLIENT.event(frames, event("{\"a\":\"é\"}"));

    assertThat(written()).isEqualTo("id: abc_1785000000000-3\ndata: {\"a\":\"é\"}\n\n");
  }

  @Test
  void shouldWriteAnEventWithoutAnIdWhenReplayIsOff() {
    NO_REPLAY.event(frames, event("{}"));

    assertThat(written()).isEqualTo("data: {}\n\n");
  }

  @Test
  void shouldNotWriteAnEmptyEvent() {
    CURRENT.event(frames, event(""));

    assertThat(written()).isEmpty();
  }

  @Test
  void shouldCloseWithARetry() {
    CURRENT.closing(frames, Duration.ofMillis(500));

    assertThat(written()).isEqualTo("retry: 500\n\n");
  }

  @Test
  void shouldCloseWithNothingForClientsWithoutPriming() {
    OLD_CLIENT.closing(frames, RETRY);

    assertThat(written()).isEmpty();
  }

  @Test
  void shouldNameAGap() {
    CURRENT.gap(frames, new Position(5, 1), POSITION);

    assertThat(written()).isEqualTo(": gap: events after 5-1 up to 1785000000000-3 are purged\n\n");
  }
}
