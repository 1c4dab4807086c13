package dev.holdfast.resume;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.util.function.Consumer;

/** Finds comments that tell of missing events, between the other bytes of a stream. */
final class GapFinder {

  private static final String BEGIN = ": gap:";

  /** Beginning of a line that is too short to be told from such a comment. */
  private String held = "";

  private boolean lineBegins = true;

  /**
   * Passes on the bytes of a chunk, and tells of each comment before the bytes behind it.
   *
   * @param bytes takes the bytes
   * @param gap takes as much of the comment as the chunk has
   */
  void feed(byte[] chunk, Consumer<byte[]> bytes, Consumer<String> gap) {
    String text = held + new String(chunk, ISO_8859_1);
    int from = 0;
    int line = lineBegins ? 0 : next(text, 0);
    for (; isTold(text, line); line = next(text, line)) {
      if (text.startsWith(BEGIN, line)) {
        bytes.accept(text.substring(from, line).getBytes(ISO_8859_1));
        from = line;
        gap.accept(text.substring(line, next(text, line)).strip());
      }
    }
    lineBegins = line < text.length() || text.endsWith("\n");
    held = text.substring(line);
    bytes.accept(text.substring(from, line).getBytes(ISO_8859_1));
  }

  /** Whether a line begins here, and there is enough of it. */
  private static boolean isTold(String text, int line) {
    return text.length() - line >= BEGIN.length() || text.indexOf('\n', line) >= 0;
  }

  /** Where the next line begins; the end of the text when none does. */
  private static int next(String text, int from) {
    int end = text.indexOf('\n', from);
    return end < 0 ? text.length() : end + 1;
  }
}
