package dev.holdfast.upstream.local;

/** A message for a model, in a prompt or in a sampling request. */
public record PromptMessage(Role role, ContentBlock content) {

  /** The speaker of a message. */
  public enum Role {
    /** A person, or a program that asks the model. */
    USER,
    /** The model. */
    ASSISTANT
  }

  /** A text by the user. */
  public static PromptMessage user(String text) {
    return new PromptMessage(Role.USER, new ContentBlock.Text(text));
  }

  /** A text by the model. */
  public static PromptMessage assistant(String text) {
    return new PromptMessage(Role.ASSISTANT, new ContentBlock.Text(text));
  }
}
