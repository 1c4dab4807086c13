package dev.holdfast.protocol;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;

/**
 * Validates UTF-8 strictly. The JSON parser accepts overlong forms and surrogates, which two
 * readers of the same bytes may decode differently.
 */
final class Utf8 {

  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private static final long NON_ASCII = 0x8080_8080_8080_8080L;
  private static final int CHUNK = 1024;

  private Utf8() {}

  static boolean isValid(byte[] bytes) {
    int ascii = 0;
    while (ascii <= bytes.length - Long.BYTES
        && ((long) LONGS.get(bytes, ascii) & NON_ASCII) == 0) {
      ascii += Long.BYTES;
    }
    while (ascii < bytes.length && bytes[ascii] >= 0) {
      ascii++;
    }
    return ascii == bytes.length || decodes(bytes, ascii);
  }

  private static boolean decodes(byte[] bytes, int from) {
    CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();
    ByteBuffer in = ByteBuffer.wrap(bytes, from, bytes.length - from);
    CharBuffer out = CharBuffer.allocate(Math.min(CHUNK, bytes.length - from + 1));
    CoderResult result;
    do {
      out.clear();
      result = decoder.decode(in, out, true);
    } while (result.isOverflow());
    return result.isUnderflow();
  }
}
