package dev.holdfast.upstream.local;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A {@link ToolResult} as it goes over the wire. */
record Outcome(List<Content> content, @Nullable ObjectNode structured, boolean failed) {

  /** Keeps the text of what is structured beside it, for clients older than 2025-06-18. */
  Outcome {
    if (structured != null && content.isEmpty()) {
      content = List.of(new Content.Text(structured.toString()));
    }
  }

  static Outcome error(String text) {
    return new Outcome(List.of(new Content.Text(text)), null, true);
  }
}
