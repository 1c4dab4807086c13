package dev.holdfast.sse;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.holdfast.testing.Corpus;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

class SseParserFuzzTest {

  private static final int MAX_LINE = 1500;
  private static final int MAX_EVENT = 1000;

  /** U+FFFD in place of an ill-formed byte. */
  private static final int GROWTH = 3;

  /** What a parser finds, and why it gives up. */
  private record Parsed(List<Received.Item> items, @Nullable String failure) {}

  /** Where a network cuts a stream must not matter. */
  @Corpus("sse")
  @FuzzTest
  void shouldFindTheSameHoweverTheStreamIsCut(byte[] document) {
    Parsed whole = parse(document, document.length + 1, null);

    assertThat(parse(document, 1, null)).isEqualTo(whole);
    Random cuts = new Random(Arrays.hashCode(document));
    assertThat(parse(document, 40, cuts)).isEqualTo(whole);
  }

  @Corpus("sse")
  @FuzzTest
  void shouldFindWhatTheStandardFinds(byte[] document) {
    Parsed whole = parse(document, document.length + 1, null);

    List<Received.Item> standard = NaiveParser.parse(document);

    if (whole.failure == null) {
      assertThat(whole.items).isEqualTo(standard);
    } else {
      assertThat(whole.items).isEqualTo(standard.subList(0, whole.items.size()));
    }
  }

  /** A tail writes these events again: nothing in them may begin another field. */
  @Corpus("sse")
  @FuzzTest
  void shouldFindEventsThatCanBeWritten(byte[] document) {
    SseWriter writer = new SseWriter();
    Received found = new Received();
    feed(new SseParser(MAX_LINE, MAX_EVENT), document, document.length + 1, null, found);
    for (Received.Event event : found.events()) {
      assertThat(event.data().getBytes(UTF_8).length).isLessThanOrEqualTo(MAX_EVENT * GROWTH);
      assertThat(event.lastEventId().getBytes(UTF_8).length).isLessThanOrEqualTo(1024);
      String id = event.lastEventId().isEmpty() ? null : event.lastEventId();
      writer.event(event.type(), id, null, event.data().getBytes(UTF_8));
    }
    Received again = new Received();

    byte[] written = writer.take();
    new SseParser(1 << 20, 1 << 20).feed(written, 0, written.length, again);

    assertThat(again.events())
        .extracting(Received.Event::type, Received.Event::data)
        .isEqualTo(
            found.events().stream().map(event -> tuple(event.type(), event.data())).toList());
  }

  private static Parsed parse(byte[] document, int chunk, @Nullable Random random) {
    Received received = new Received();
    String failure = feed(new SseParser(MAX_LINE, MAX_EVENT), document, chunk, random, received);
    return new Parsed(received.items(), failure);
  }

  private static @Nullable String feed(
      SseParser parser, byte[] document, int chunk, @Nullable Random random, Received received) {
    try {
      int from = 0;
      while (from < document.length) {
        int wanted = random == null ? chunk : 1 + random.nextInt(chunk);
        int length = Math.min(wanted, document.length - from);
        parser.feed(document, from, length, received);
        from += length;
      }
      return null;
    } catch (SseLimitException limit) {
      return limit.getMessage();
    }
  }
}
