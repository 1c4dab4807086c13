package dev.holdfast.protocol;

/** JSON on one line, as an SSE {@code data} field and the stdio transport want it. */
public final class SingleLineJson {

  private SingleLineJson() {}

  /**
   * Returns the same JSON without line ends. A raw CR or LF can only be insignificant white space,
   * since a JSON string must escape both; so a space takes its place and nothing else moves.
   *
   * @param json valid JSON in UTF-8; not changed
   * @return the same array if it has no CR and no LF, otherwise a changed copy of the same length
   */
  public static byte[] singleLine(byte[] json) {
    int first = 0;
    while (first < json.length && !isLineEnd(json[first])) {
      first++;
    }
    if (first == json.length) {
      return json;
    }
    byte[] line = json.clone();
    for (int i = first; i < line.length; i++) {
      if (isLineEnd(line[i])) {
        line[i] = ' ';
      }
    }
    return line;
  }

  private static boolean isLineEnd(byte b) {
    return b == '\n' || b == '\r';
  }
}
