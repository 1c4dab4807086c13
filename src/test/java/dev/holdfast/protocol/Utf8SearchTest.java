package dev.holdfast.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.ByteRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class Utf8SearchTest {

  /** Values next to LF and CR are where a borrow between bytes would show. */
  @Property(tries = 5000)
  void shouldFindTheFirstLineEnd(
      @ForAll @Size(max = 40) @ByteRange(min = 8, max = 15) byte[] bytes,
      @ForAll @IntRange(max = 10) int skip) {
    int from = Math.min(skip, bytes.length);
    int expected = from;
    while (expected < bytes.length && bytes[expected] != '\n' && bytes[expected] != '\r') {
      expected++;
    }

    assertThat(Utf8.lineEnd(bytes, from, bytes.length)).isEqualTo(expected);
  }

  @Property(tries = 5000)
  void shouldFindTheFirstByteOutsideAscii(@ForAll @Size(max = 40) byte[] bytes) {
    int expected = 0;
    while (expected < bytes.length && bytes[expected] >= 0) {
      expected++;
    }

    assertThat(Utf8.asciiEnd(bytes, 0, bytes.length)).isEqualTo(expected);
  }

  @Property
  void shouldNotLookPastTheEnd(@ForAll @IntRange(max = 30) int to) {
    byte[] bytes = new byte[40];
    bytes[to] = '\n';

    assertThat(Utf8.lineEnd(bytes, 0, to)).isEqualTo(to);
  }
}
