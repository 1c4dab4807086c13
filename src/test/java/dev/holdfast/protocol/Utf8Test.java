package dev.holdfast.protocol;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.HexFormat;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class Utf8Test {

  private static final HexFormat HEX = HexFormat.ofDelimiter(" ");

  /**
   * {@code ?} stands for U+FFFD; the sequences and their counts are those of the Unicode standard.
   */
  @ParameterizedTest
  @CsvSource({
    "41 80 42, A?B",
    "C0 80, ??",
    "C0 AF E0 80 BF F0 81 82 41, ????????A",
    "ED A0 80 ED BF BF ED AF 41, ????????A",
    "F4 91 92 93 FF 41 80 BF 42, ?????A??B",
    "E1 80 E2 F0 91 92 F1 BF 41, ????A",
    "F0 9F 98, ?",
    "F0 9F 98 41, ?A",
    "E2 82, ?",
    "C3, ?",
    "C3 C3 A9, ?é",
    "EF BB BF 41, \uFEFFA",
    "F4 8F BF BF, \uDBFF\uDFFF",
  })
  void shouldReplaceEachMaximalIllFormedPart(String bytes, String text) {
    byte[] input = HEX.parseHex(bytes);

    assertThat(Utf8.decode(input, 0, input.length)).isEqualTo(text.replace('?', '\uFFFD'));
  }

  @Property(tries = 2000)
  void shouldLeaveWellFormedTextAlone(@ForAll String text) {
    byte[] bytes = text.getBytes(UTF_8);

    assertThat(Utf8.isValid(bytes, 0, bytes.length)).isTrue();
    assertThat(Utf8.repair(bytes, 0, bytes.length)).isEqualTo(bytes);
  }

  @Property(tries = 5000)
  void shouldAgreeWithTheStrictDecoder(@ForAll byte[] bytes) {
    assertThat(Utf8.isValid(bytes, 0, bytes.length)).isEqualTo(decodesStrictly(bytes));
  }

  @Property(tries = 5000)
  void shouldAlwaysRepairToWellFormedText(@ForAll byte[] bytes) {
    assertThat(decodesStrictly(Utf8.repair(bytes, 0, bytes.length))).isTrue();
  }

  private static boolean decodesStrictly(byte[] bytes) {
    try {
      UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
      return true;
    } catch (CharacterCodingException e) {
      return false;
    }
  }
}
