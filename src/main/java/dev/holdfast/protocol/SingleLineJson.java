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
    byte[] line = json;
    for (int i = 0; i < json.length; i++) {
      if (json[i] == '\n' || json[i] == '\r') {
        line = line == json ? json.clone() : line;
        line[i] = ' ';
      }
    }
    return line;
  }
}
