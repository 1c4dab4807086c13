package dev.holdfast.upstream.local;

import java.util.Optional;

/**
 * A tool that runs inside this process. Thread-safe: one instance serves all calls, also at the
 * same time. All but {@link #call} never changes, and is asked for once.
 *
 * <p>Arguments and result are records of texts, numbers, booleans, enums, lists, maps and records.
 * Their schemas follow from their components: {@code @JsonPropertyDescription} describes one,
 * bounds are those of {@code jakarta.validation} ({@code @Min}, {@code @Max}, {@code @Size},
 * {@code @Pattern}, …), and one that may be absent is {@code @Nullable} or has a
 * {@code @JsonProperty(defaultValue)}. In a native image these records are reached by reflection
 * and must be registered for it.
 *
 * @param <A> what the tool takes; {@link NoArguments} for nothing
 */
public interface Tool<A extends Record> {

  /** The name by which clients call it: 1 to 128 of {@code A-Z a-z 0-9 _ . -}; unique. */
  String name();

  /** What the tool does, in words for a model. */
  String description();

  /** What arguments the tool takes. A call with any others does not reach the tool. */
  Class<A> arguments();

  /**
   * What the tool gives: if present, every success is a {@link ToolResult#of} such a record, and
   * clients are told its schema.
   */
  default Optional<Class<? extends Record>> result() {
    return Optional.empty();
  }

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
   * @param arguments what the client gave; fits the schema
   * @param call a way to speak to the client meanwhile
   * @return what the client gets
   * @throws InvalidArgumentsException if the arguments are still not what the tool takes; the model
   *     is told, and may try again
   * @throws ClientException if the client did not give what it was asked for; the model is told
   * @throws Exception if anything else goes wrong; it is logged, and the client is only told that
   *     the tool failed
   */
  ToolResult call(A arguments, ToolCall call) throws Exception;
}
