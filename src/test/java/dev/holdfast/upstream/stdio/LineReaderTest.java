package dev.holdfast.upstream.stdio;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LineReaderTest {

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 7, 8192})
  void shouldReadLinesFromAnyChunks(int chunk) throws Exception {
    LineReader reader = new LineReader(chunks("a\n\nbc\r\n\r\nd\re\nlast", chunk), 100);

    assertThat(all(reader)).containsExactly("a", "", "bc", "", "d\re", "last");
  }

  @ParameterizedTest
  @ValueSource(ints = {8191, 8192, 8193, 16_384, 50_000})
  void shouldReadLinesUpToBound(int length) throws Exception {
    String line = "x".repeat(length);

    assertThat(all(new LineReader(stream(line + "\n" + line + "\r\n" + line), length)))
        .containsExactly(line, line, line);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 100, 8192, 20_000})
  void shouldRefuseLongerLinesAndContinueAfterThem(int bound) throws Exception {
    String line = "x".repeat(bound);
    LineReader reader = new LineReader(stream(line + "\n" + line + "y\nn"), bound);

    assertThat(reader.next()).hasSize(bound);
    assertThatThrownBy(reader::next).isInstanceOf(LineReader.LineTooLongException.class);
    reader.skipLine();
    assertThat(all(reader)).containsExactly("n");
  }

  @Test
  void shouldAskBeforeItHoldsPartOfALongLine() throws Exception {
    // given
    String line = "x".repeat(20_000);
    List<Long> held = new ArrayList<>();
    LineReader reader =
        new LineReader(
            stream("short\n" + line + "\n" + line),
            20_000,
            bytes -> {
              held.add(bytes);
              return held.size() < 6;
            });

    // when, then
    assertThat(reader.next()).hasSize(5);
    assertThat(held).containsExactly(0L);
    assertThat(reader.next()).hasSize(20_000);
    assertThat(held).hasSize(5).last().isEqualTo(20_000L);
    assertThatThrownBy(reader::next).isInstanceOf(LineReader.LineTooLongException.class);
  }

  @Test
  void shouldBufferNoMoreThanBound() {
    // A line without an end.
    AtomicLong given = new AtomicLong();
    InputStream endless =
        new InputStream() {
          @Override
          public int read() {
            return 'x';
          }

          @Override
          public int read(byte[] target, int from, int length) {
            Arrays.fill(target, from, from + length, (byte) 'x');
            assertThat(given.addAndGet(length)).isLessThan(100_000);
            return length;
          }
        };

    assertThatThrownBy(new LineReader(endless, 10_000)::next)
        .isInstanceOf(LineReader.LineTooLongException.class);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 100, 8191, 8192, 20_000})
  void shouldPassOnTheWholeLineThatItSkips(int length) throws Exception {
    String line = "x".repeat(length) + "y";
    LineReader reader = new LineReader(stream(line + "\n\nn"), length);
    ByteArrayOutputStream skipped = new ByteArrayOutputStream();

    assertThatThrownBy(reader::next).isInstanceOf(LineReader.LineTooLongException.class);

    assertThat(reader.skipLine(skipped, 100_000)).isTrue();
    assertThat(skipped.toString(UTF_8)).isEqualTo(line);
    assertThat(all(reader)).containsExactly("", "n");
  }

  @Test
  void shouldNotSkipALineWithoutAnEnd() throws Exception {
    LineReader reader = new LineReader(stream("x".repeat(100_000)), 10);
    assertThatThrownBy(reader::next).isInstanceOf(LineReader.LineTooLongException.class);

    assertThat(reader.skipLine(OutputStream.nullOutputStream(), 50_000)).isFalse();
  }

  @Test
  void shouldSkipToTheEnd() throws Exception {
    LineReader reader = new LineReader(stream("a\n" + "b".repeat(20_000) + "\nc"), 10);
    assertThat(reader.next()).hasSize(1);

    reader.skipAll();

    assertThat(reader.next()).isNull();
  }

  private static List<String> all(LineReader reader)
      throws IOException, LineReader.LineTooLongException {
    List<String> lines = new ArrayList<>();
    for (byte[] line = reader.next(); line != null; line = reader.next()) {
      lines.add(new String(line, UTF_8));
    }
    return lines;
  }

  private static InputStream stream(String text) {
    return new ByteArrayInputStream(text.getBytes(UTF_8));
  }

  private static InputStream chunks(String text, int size) {
    return new ByteArrayInputStream(text.getBytes(UTF_8)) {
      @Override
      public int read(byte[] target) {
        return read(target, 0, Math.min(size, target.length));
      }
    };
  }
}
