package dev.holdfast.log;

/**
 * Names a stream.
 *
 * @param key the owner
 * @param name the stream's name, unique for its owner
 */
public record StreamRef(LogKey key, String name) {

  private static final int MAX_NAME = 32;

  /**
   * @throws IllegalArgumentException when the name has other characters or is too long: it becomes
   *     part of store keys and of event ids
   */
  public StreamRef {
    if (!isName(name)) {
      throw new IllegalArgumentException("not a stream name");
    }
  }

  /** Returns true if the text is a valid stream name. */
  public static boolean isName(String text) {
    return LogKey.isWord(text, MAX_NAME, "");
  }

  @Override
  public String toString() {
    return key + "/" + name;
  }
}
