package dev.holdfast.upstream.local;

import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The client of a running call. Requests go out on the stream of the call; responses may come
 * through any replica. Thread-safe.
 *
 * <p>Every method waits for the response. It is interrupted when the call is cancelled. After the
 * timeout it cancels its request. A {@link Tool#cpuBound()} tool should not send requests, as the
 * wait occupies one of few threads.
 */
public interface Client {

  /** Returns the capabilities that the client declared. */
  Capabilities capabilities();

  /**
   * Returns the same client, which gets the next requests under a key. A client of MCP 2026-07-28
   * shows it to its programmer; others never see it. Without this, keys are arbitrary.
   *
   * @param key one to 64 of {@code A-Z a-z 0-9 _ . -}; no two requests that wait at the same time
   *     have the same
   * @throws IllegalArgumentException if the key is malformed
   * @see <a href="https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr">MCP
   *     2026-07-28, Multi Round-Trip Requests</a>
   */
  Client withKey(String key);

  /**
   * Asks a person to fill in a form.
   *
   * @param message purpose of the form, shown to the person
   * @param form a record of texts, numbers, booleans, enums and lists of enums
   * @param timeout bound of the wait; people take minutes
   * @throws ClientException if no result comes; the subclass tells the reason
   * @throws IllegalArgumentException if the record is no form
   * @see <a href="https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation">MCP
   *     2025-11-25, Elicitation</a>
   */
  <F extends Record> ElicitationResult<F> elicit(String message, Class<F> form, Duration timeout)
      throws InterruptedException;

  /**
   * Asks the model of the client.
   *
   * @param timeout bound of the wait; a person may have to agree first
   * @throws ClientException if no result comes; the subclass tells the reason
   * @see <a href="https://modelcontextprotocol.io/specification/2025-11-25/client/sampling">MCP
   *     2025-11-25, Sampling</a>
   */
  SamplingResult sample(SamplingRequest sampling, Duration timeout) throws InterruptedException;

  /**
   * Asks for the files and folders that the client works on.
   *
   * @throws ClientException if no result comes; the subclass tells the reason
   * @see <a href="https://modelcontextprotocol.io/specification/2025-11-25/client/roots">MCP
   *     2025-11-25, Roots</a>
   */
  List<Root> roots(Duration timeout) throws InterruptedException;

  /**
   * The requests that a client declared to accept.
   *
   * @param elicitation whether the client shows forms to people
   * @param sampling whether the client offers a model
   * @param roots whether the client lists the files and folders it works on
   * @see <a
   *     href="https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#capability-negotiation">MCP
   *     2025-11-25, Lifecycle, Capability Negotiation</a>
   */
  record Capabilities(boolean elicitation, boolean sampling, boolean roots) {}

  /** The result of an elicitation: a person's response to a form. */
  sealed interface ElicitationResult<F extends Record> {

    /** The person filled in the form. */
    record Accept<F extends Record>(F form) implements ElicitationResult<F> {}

    /** The person refused. */
    record Decline<F extends Record>() implements ElicitationResult<F> {}

    /** The person closed the form without a choice. */
    record Cancel<F extends Record>() implements ElicitationResult<F> {}
  }

  /**
   * A file or folder that a client works on.
   *
   * @param uri so far always a {@code file://} URI
   * @param name for people; null for none
   */
  record Root(String uri, @Nullable String name) {}

  /**
   * A request to a client's model.
   *
   * @param messages the conversation so far, oldest first; at least one
   * @param maxTokens maximum length of the answer
   * @param systemPrompt null for none; the client may ignore it
   */
  record SamplingRequest(
      List<Prompt.PromptMessage> messages, int maxTokens, @Nullable String systemPrompt) {

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
      return new SamplingRequest(List.of(Prompt.PromptMessage.user(question)), maxTokens, null);
    }
  }

  /**
   * The answer of a client's model.
   *
   * @param content text, images and audio
   * @param model name of the model
   * @param stopReason such as {@code endTurn} or {@code maxTokens}; null if unknown
   */
  record SamplingResult(List<ContentBlock> content, String model, @Nullable String stopReason) {

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

  /**
   * A client did not give the result that a tool asked for. The model may see the message. The
   * exception has no stack trace, because any client can cause it.
   */
  abstract sealed class ClientException extends RuntimeException {
    private ClientException(String message) {
      super(message, null, false, false);
    }

    /** The client did not declare the capability. No request was sent. */
    public static final class Unsupported extends ClientException {
      private final String method;

      /** Names the method of the request. */
      public Unsupported(String method) {
        super("The client cannot be asked for this: " + method);
        this.method = method;
      }

      /** The method of the request. */
      public String method() {
        return method;
      }
    }

    /** No response came in time. The request was cancelled. */
    public static final class TimedOut extends ClientException {
      /** Names the method of the request. */
      public TimedOut(String method) {
        super("The client did not answer in time: " + method);
      }
    }

    /** The client responded with an error, for instance because a person said no. */
    public static final class Refused extends ClientException {
      private final int code;

      /**
       * Keeps the client's error.
       *
       * @param code the JSON-RPC error code
       */
      public Refused(String method, int code, String message) {
        super("The client refused: " + method + ": " + message);
        this.code = code;
      }

      /** Returns the JSON-RPC error code. */
      public int code() {
        return code;
      }
    }

    /** The client's response does not fit the request. */
    public static final class Unreadable extends ClientException {
      /** Names the method of the request, and the problem with the response. */
      public Unreadable(String method, String problem) {
        super("The client's answer does not fit: " + method + ": " + problem);
      }
    }
  }
}
