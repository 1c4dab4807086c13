package dev.holdfast.upstream.local;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a call of a tool came to.
 *
 * @param content what people and models read; if there is none, the text of {@code structured}
 * @param structured what programs read; null for nothing
 * @param failed whether the content tells of a failure, which the model may be able to mend
 */
public record ToolResult(List<Content> content, @Nullable Record structured, boolean failed) {

  /**
   * Copies the list.
   *
   * @throws IllegalArgumentException if there is neither content nor a record
   */
  public ToolResult {
    content = List.copyOf(content);
    if (content.isEmpty() && structured == null) {
      throw new IllegalArgumentException("A result has at least one piece of content");
    }
  }

  /** A success in words. */
  public static ToolResult text(String text) {
    return content(new Content.Text(text));
  }

  /** A success of any kind. */
  public static ToolResult content(Content first, Content... more) {
    List<Content> content = new ArrayList<>(List.of(first));
    content.addAll(List.of(more));
    return new ToolResult(content, null, false);
  }

  /** A success as a record; who cannot read that gets it as the text of its JSON. */
  public static ToolResult of(Record structured) {
    return new ToolResult(List.of(), structured, false);
  }

  /**
   * A failure that the client may know of.
   *
   * @param text what went wrong, and if possible what to do about it
   */
  public static ToolResult error(String text) {
    return new ToolResult(List.of(new Content.Text(text)), null, true);
  }
}
