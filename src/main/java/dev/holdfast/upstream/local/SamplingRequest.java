package dev.holdfast.upstream.local;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A request to a client's model.
 *
 * @param messages the conversation so far, oldest first; at least one
 * @param maxTokens maximum length of the answer
 * @param systemPrompt null for none; the client may ignore it
 */
public record SamplingRequest(
    List<PromptMessage> messages, int maxTokens, @Nullable String systemPrompt) {

  /**
   * Copies the list.
   *
   * @throws IllegalArgumentException without a message, or if {@code maxTokens} is not positive
   */
  public SamplingRequest {
    messages = List.copyOf(messages);
    if (messages.isEmpty() || maxTokens < 1) {
      throw new IllegalArgumentException("A sampling request needs a message and maxTokens");
    }
  }

  /** A single question. */
  public static SamplingRequest of(String question, int maxTokens) {
    return new SamplingRequest(List.of(PromptMessage.user(question)), maxTokens, null);
  }
}
