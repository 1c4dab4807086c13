package dev.holdfast.sse;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class SseRoundTripTest {

  record Frame(Optional<String> type, Optional<String> id, Optional<Integer> retry, String data) {}

  @Property(tries = 2000)
  void shouldReadBackWrittenFrames(
      @ForAll("frames") List<Frame> frames,
      @ForAll @Size(min = 1, max = 20) List<@IntRange(min = 1, max = 50) Integer> chunkSizes) {
    byte[] document = write(frames);

    Received received = parse(document, chunkSizes);

    assertThat(received.items()).isEqualTo(expected(frames));
  }

  /** Any bytes, mostly those with a meaning, read the same with any cut. */
  @Property(tries = 5000)
  void shouldReadAnyBytesTheSameWithAnyCut(
      @ForAll("fragments") String document,
      @ForAll @Size(min = 1, max = 20) List<@IntRange(min = 1, max = 10) Integer> chunkSizes) {
    byte[] bytes = document.getBytes(ISO_8859_1);

    Received received = parse(bytes, chunkSizes);

    assertThat(received.items()).isEqualTo(NaiveParser.parse(bytes));
  }

  @Provide
  Arbitrary<List<Frame>> frames() {
    Arbitrary<String> text =
        Arbitraries.strings().all().ofMaxLength(40).map(SseRoundTripTest::encodable);
    Arbitrary<String> name = text.map(s -> s.replaceAll("[\r\n\0]", "")).filter(s -> !s.isEmpty());
    Arbitrary<String> data =
        Arbitraries.oneOf(
            text,
            Arbitraries.strings().withChars("ab :\r\n").ofMaxLength(10),
            Arbitraries.just(""));
    return Combinators.combine(
            name.optional(0.3),
            name.optional(0.7),
            Arbitraries.integers().greaterOrEqual(0).optional(0.2),
            data)
        .as(Frame::new)
        .list()
        .ofMaxSize(8);
  }

  @Provide
  Arbitrary<String> fragments() {
    return Arbitraries.of(
            "data",
            "id",
            "event",
            "retry",
            ":",
            ":",
            " ",
            "\n",
            "\n",
            "\n\n",
            "\r",
            "\r\n",
            "a",
            "7",
            "\0",
            "data: x\n",
            "id: 1\n",
            "\u00EF\u00BB\u00BF",
            "\u00EF",
            "\u00E2\u0082",
            "\u00AC",
            "\u00FF",
            "a long enough value to fill some words")
        .list()
        .ofMaxSize(30)
        .map(parts -> String.join("", parts));
  }

  private static byte[] write(List<Frame> frames) {
    SseWriter writer = new SseWriter();
    for (Frame frame : frames) {
      writer.event(
          frame.type().orElse(null),
          frame.id().orElse(null),
          frame.retry().map(Duration::ofMillis).orElse(null),
          frame.data().getBytes(UTF_8));
      writer.comment("between");
    }
    return writer.take();
  }

  private static List<Received.Item> expected(List<Frame> frames) {
    List<Received.Item> items = new ArrayList<>();
    String lastEventId = "";
    for (Frame frame : frames) {
      lastEventId = frame.id().orElse(lastEventId);
      frame.retry().ifPresent(r -> items.add(new Received.Retry(Duration.ofMillis(r))));
      // The format cannot tell line ends apart.
      String data = frame.data().replaceAll("\r\n?", "\n");
      items.add(new Received.Event(frame.type().orElse("message"), lastEventId, data));
      items.add(new Received.Comment());
    }
    return items;
  }

  private static Received parse(byte[] document, List<Integer> chunkSizes) {
    SseParser parser = new SseParser(1 << 16, 1 << 16);
    Received received = new Received();
    int position = 0;
    for (int i = 0; position < document.length; i++) {
      int size = Math.min(chunkSizes.get(i % chunkSizes.size()), document.length - position);
      parser.feed(document, position, size, received);
      position += size;
    }
    parser.end();
    return received;
  }

  private static String encodable(String text) {
    return new String(text.getBytes(UTF_8), UTF_8);
  }
}
