package dev.holdfast.upstream.local;

import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The answer of a client's model.
 *
 * @param content text, images and audio
 * @param model name of the model
 * @param stopReason such as {@code endTurn} or {@code maxTokens}; null if unknown
 */
public record SamplingResult(
    List<ContentBlock> content, String model, @Nullable String stopReason) {

  /** Copies the list. */
  public SamplingResult {
    content = List.copyOf(content);
  }

  /** Returns the text blocks of the content, concatenated. */
  public String text() {
    return content.stream()
        .filter(ContentBlock.Text.class::isInstance)
        .map(content -> ((ContentBlock.Text) content).text())
        .collect(Collectors.joining());
  }
}
