package dev.holdfast.upstream.local;

import java.util.List;

/**
 * A template of messages for a model. Thread-safe. All properties are constant and read once.
 *
 * @param <A> the arguments: a record of texts, see {@link Tool}; {@link NoArguments} for none
 * @see <a href="https://modelcontextprotocol.io/specification/2025-11-25/server/prompts">MCP
 *     2025-11-25, Prompts</a>
 */
public interface Prompt<A extends Record> {

  /** Returns the unique name. */
  String name();

  /** Returns a description for people. */
  String description();

  /** Returns the record of the arguments. Requests with other arguments do not reach the prompt. */
  Class<A> arguments();

  /**
   * Fills in the template. May block, but should not compute for long. Cannot be cancelled.
   *
   * @param arguments fit the schema
   * @throws InvalidArgumentsException if the arguments have errors that the schema cannot express;
   *     the client gets the message
   * @throws Exception if the prompt fails; the exception is logged and hidden from the client
   */
  List<PromptMessage> get(A arguments) throws Exception;

  /**
   * Suggests values of an argument, best first. Clients get at most 100.
   *
   * @param argument name of the argument
   * @param begun text that the person has entered so far; may be empty
   * @throws Exception if the prompt fails; the exception is logged and hidden from the client
   * @see <a
   *     href="https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/completion">MCP
   *     2025-11-25, Completion</a>
   */
  default List<String> complete(String argument, String begun) throws Exception {
    return List.of();
  }

  /** A message for a model, in a prompt or in a sampling request. */
  record PromptMessage(Role role, ContentBlock content) {

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
}
