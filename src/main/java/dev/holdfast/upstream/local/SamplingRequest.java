package dev.holdfast.upstream.local;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A question to a client's model.
 *
 * @param turns what was said so far, oldest first; at least one
 * @param maxTokens how long the answer may be
 * @param systemPrompt null for none; the client may ignore it
 */
public record SamplingRequest(List<Turn> turns, int maxTokens, @Nullable String systemPrompt) {

  /**
   * Copies the list.
   *
   * @throws IllegalArgumentException if nothing was said, or the answer may have no token
   */
  public SamplingRequest {
    turns = List.copyOf(turns);
    if (turns.isEmpty() || maxTokens < 1) {
      throw new IllegalArgumentException("A question has a turn, and its answer a token");
    }
  }

  /** A single question. */
  public static SamplingRequest of(String question, int maxTokens) {
    return new SamplingRequest(List.of(Turn.user(question)), maxTokens, null);
  }
}
