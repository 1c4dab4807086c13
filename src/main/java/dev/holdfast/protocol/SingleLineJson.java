package dev.holdfast.protocol;

/** JSON on one line, as an SSE {@code data} field and the stdio transport require it. */
public final class SingleLineJson {

  private SingleLineJson() {}

  /**
   * Returns the same JSON without line ends. Each raw CR or LF becomes a space. It can only be
   * insignificant white space, since JSON strings escape both.
   *
   * @param json valid JSON in UTF-8; not changed
   * @return the same array if it has no line end, otherwise a changed copy of the same length
   */
  public static byte[] of(byte[] json) {
    for (int i = 0; i < json.length; i++) {
      if (isLineEnd(json[i])) {
        return replaceLineEnds(json.clone(), i);
      }
    }
    return json;
  }

  private static byte[] replaceLineEnds(byte[] json, int first) {
    for (int i = first; i < json.length; i++) {
      if (isLineEnd(json[i])) {
        json[i] = ' ';
      }
    }
    return json;
  }

  private static boolean isLineEnd(byte b) {
    return b == '\n' || b == '\r';
  }
}
