package dev.holdfast.upstream.local;

/**
 * A tool that runs inside this process. Thread-safe: one instance serves all calls, also at the
 * same time. Name, description and schema never change.
 */
public interface Tool {

  /** The name by which clients call it: 1 to 128 of {@code A-Z a-z 0-9 _ . -}; unique. */
  String name();

  /** What the tool does, in words for a model. */
  String description();

  /**
   * What arguments the tool takes: a JSON Schema, as the text of a JSON object. Nobody checks a
   * call against it: {@link #call} does.
   */
  String inputSchema();

  /**
   * Whether a call computes for long rather than waits. Such calls run on a few threads of their
   * own, one fewer than there are processors: so they cannot starve other calls, but may have to
   * queue behind each other.
   */
  default boolean cpuBound() {
    return false;
  }

  /**
   * Does the work, and may block for as long as it takes. When the call is cancelled its thread is
   * interrupted, and whatever the method then returns or throws is dropped.
   *
   * @param call the arguments, and a way to speak to the client meanwhile
   * @return what the client gets
   * @throws InvalidArgumentsException if the arguments are not what the tool takes; the client gets
   *     a JSON-RPC error with its message
   * @throws Exception if anything else goes wrong; it is logged, and the client is only told that
   *     the tool failed
   */
  ToolResult call(ToolCall call) throws Exception;
}
