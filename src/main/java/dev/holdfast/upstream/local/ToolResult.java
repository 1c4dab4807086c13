package dev.holdfast.upstream.local;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The result of a tool call.
 *
 * @param content for people and models; if empty, clients get the JSON text of {@code structured}
 * @param structured for programs; null for none
 * @param failed whether the content describes a failure; the model may be able to correct it
 */
public record ToolResult(List<ContentBlock> content, @Nullable Record structured, boolean failed) {

  /**
   * Copies the list.
   *
   * @throws IllegalArgumentException if there is neither content nor a record
   */
  public ToolResult {
    content = List.copyOf(content);
    if (content.isEmpty() && structured == null) {
      throw new IllegalArgumentException("A result has content or a record");
    }
  }

  /** A success with a text. */
  public static ToolResult text(String text) {
    return content(new ContentBlock.Text(text));
  }

  /** A success with any content. */
  public static ToolResult content(ContentBlock first, ContentBlock... more) {
    List<ContentBlock> content = new ArrayList<>(List.of(first));
    content.addAll(List.of(more));
    return new ToolResult(content, null, false);
  }

  /** A success with a record. Clients that read no records get its JSON text. */
  public static ToolResult of(Record structured) {
    return new ToolResult(List.of(), structured, false);
  }

  /**
   * A failure that the client may see.
   *
   * @param text the problem, and if possible its solution
   */
  public static ToolResult error(String text) {
    return new ToolResult(List.of(new ContentBlock.Text(text)), null, true);
  }
}
