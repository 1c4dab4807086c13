package dev.holdfast.upstream.local;

import java.util.List;

/**
 * What a call of a tool came to.
 *
 * @param texts the content: one or more texts
 * @param failed whether the texts tell of a failure, which the model may be able to mend
 */
public record ToolResult(List<String> texts, boolean failed) {

  /**
   * Copies the list.
   *
   * @throws IllegalArgumentException if there is no text
   */
  public ToolResult {
    texts = List.copyOf(texts);
    if (texts.isEmpty()) {
      throw new IllegalArgumentException("A result has at least one text");
    }
  }

  /** A success. */
  public static ToolResult text(String text) {
    return new ToolResult(List.of(text), false);
  }

  /**
   * A failure that the client may know of.
   *
   * @param text what went wrong, and if possible what to do about it
   */
  public static ToolResult error(String text) {
    return new ToolResult(List.of(text), true);
  }
}
