package dev.holdfast.upstream.local;

import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What a client's model answered.
 *
 * @param content texts, pictures and sounds
 * @param model its name
 * @param stopReason why it ended, such as {@code endTurn} or {@code maxTokens}; null if unknown
 */
public record SamplingResult(List<Content> content, String model, @Nullable String stopReason) {

  /** Copies the list. */
  public SamplingResult {
    content = List.copyOf(content);
  }

  /** The texts of the content, one after the other. */
  public String text() {
    return content.stream()
        .filter(Content.Text.class::isInstance)
        .map(content -> ((Content.Text) content).text())
        .collect(Collectors.joining());
  }
}
