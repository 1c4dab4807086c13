package dev.holdfast.sse;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The parser finds the same in a document, wherever it is cut. */
class SseParserChunkingTest {

  static Stream<byte[]> documents() {
    Stream<byte[]> utf8 =
        Stream.of(
                "",
                "\n",
                "\r\n\r\n",
                "\uFEFF",
                "\uFEFFdata: a\n\n",
                "\uFEFF\uFEFFdata: a\n\ndata: b\n\n",
                "data: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n",
                "data: a\rdata: b\r\rdata: c\r\r",
                "data: a\n\rdata: b\r\n\rdata: c\n\r\n",
                "\r\r\n\n\rdata: a\r\r\n\n\r",
                "event: endpoint\r\ndata: /messages?session=1\r\n\r\n: ping\r\n\r\n",
                "id: s_0-0\nretry: 5000\ndata: \n\n",
                "event: message\nid: s_12-1\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n",
                "id: 1\n\nid: 2\ndata: a\n\ndata: b\n\nid\ndata: c\n\n",
                "id: 1\ndata: a\n\nid: 2\0\ndata\n\nid: 3\ndata: unfinished",
                "data\ndata\n\ndata:\ndata: : \n\ndata: x:y\n\n",
                ":\n: \n:data: x\n\nfoo: bar\nfoo\n Data: x\ndatax: y\n\n",
                "retry: 1\nretry: x\nretry: 99999999999999999999\nretry:\n\n",
                "data: grüße – 漢字 🎉\nevent: ünï\nid: ✓\n\n",
                "data: one\nevent: a\ndata: two\nevent: b\n: c\ndata: three\n\ndata: four\n\n")
            .map(document -> document.getBytes(UTF_8));
    Stream<byte[]> invalid =
        Stream.of(
                "\u00EF\u00BBdata: a\n\ndata: b\n\n",
                "\u00EF\u00BB\r\ndata: b\n\n",
                "data: \u00F0\u009F\u0098\ndata: \u00ED\u00A0\u0080\nid: \u00C0\u0080\n\n",
                "event: \u00FF\ndata: a\u0080\u00C3\r\rdata: \u00E2\u0082\u00AC\u00E2\r\n\r\n")
            .map(document -> document.getBytes(ISO_8859_1));
    return Stream.concat(utf8, invalid);
  }

  @ParameterizedTest
  @MethodSource("documents")
  void shouldParseSingleBytesLikeOneChunk(byte[] document) {
    Outcome uncut = Outcome.of(document);

    assertThat(Outcome.ofSingleBytes(document)).isEqualTo(uncut);
  }

  @ParameterizedTest
  @MethodSource("documents")
  void shouldParseTheSameCutAtEveryByte(byte[] document) {
    Outcome uncut = Outcome.of(document);

    for (int cut = 0; cut <= document.length; cut++) {
      assertThat(Outcome.of(document, cut)).as("cut at %d", cut).isEqualTo(uncut);
    }
  }

  @ParameterizedTest
  @MethodSource("documents")
  void shouldParseTheSameCutAtEveryPairOfBytes(byte[] document) {
    Outcome uncut = Outcome.of(document);

    for (int first = 0; first <= document.length; first++) {
      for (int second = first; second <= document.length; second++) {
        assertThat(Outcome.of(document, first, second))
            .as("cut at %d and %d", first, second)
            .isEqualTo(uncut);
      }
    }
  }

  record Outcome(List<Received.Item> items, String lastEventId) {

    static Outcome ofSingleBytes(byte[] document) {
      int[] cuts = new int[document.length];
      Arrays.setAll(cuts, i -> i);
      return of(document, cuts);
    }

    /** Feeds each part from one array, which is overwritten like a read buffer. */
    static Outcome of(byte[] document, int... cuts) {
      SseParser parser = new SseParser(1000, 1000);
      Received received = new Received();
      byte[] reused = new byte[document.length];
      int from = 0;
      for (int i = 0; i <= cuts.length; i++) {
        int to = i < cuts.length ? cuts[i] : document.length;
        Arrays.fill(reused, (byte) '#');
        System.arraycopy(document, from, reused, reused.length - (to - from), to - from);
        parser.feed(reused, reused.length - (to - from), to - from, received);
        from = to;
      }
      parser.end();
      return new Outcome(received.items(), parser.lastEventId());
    }
  }
}
