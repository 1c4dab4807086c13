package dev.holdfast.upstream.local;

import java.util.Optional;

/**
 * A tool that runs inside this process. Thread-safe: one instance serves concurrent calls. All
 * properties are constant and read once.
 *
 * <p>Arguments and result are records of texts, numbers, booleans, enums, lists, maps and records.
 * Their schemas are derived from their components. {@code @JsonPropertyDescription} describes a
 * component. Annotations of {@code jakarta.validation} ({@code @Min}, {@code @Max}, {@code @Size},
 * {@code @Pattern}, …) set its bounds. An optional component is {@code @Nullable} or has a
 * {@code @JsonProperty(defaultValue)}. A native image needs these records registered for
 * reflection.
 *
 * @param <A> the arguments; {@link NoArguments} for none
 */
public interface Tool<A extends Record> {

  /** Returns the unique name: 1 to 128 of {@code A-Z a-z 0-9 _ . -}. */
  String name();

  /** Returns a name for people to read. Clients show {@link #name} without it. */
  default Optional<String> title() {
    return Optional.empty();
  }

  /** Returns a description for models. */
  String description();

  /** Returns the record of the arguments. Calls with other arguments do not reach the tool. */
  Class<A> arguments();

  /**
   * Returns the record of the result. If present, clients get its schema, and every success must be
   * a {@link ToolResult#of} such a record.
   */
  default Optional<Class<? extends Record>> result() {
    return Optional.empty();
  }

  /**
   * Returns whether the tool changes nothing. Clients may then call it without asking a person.
   * This hint and the next three are the annotations of MCP, with the defaults of MCP.
   */
  default boolean readOnlyHint() {
    return false;
  }

  /** Returns whether a change may delete or overwrite. False if the tool only adds. */
  default boolean destructiveHint() {
    return true;
  }

  /** Returns whether a repeated call with the same arguments changes nothing more. */
  default boolean idempotentHint() {
    return false;
  }

  /** Returns whether the tool deals with an open world, such as the web. False for a memory. */
  default boolean openWorldHint() {
    return true;
  }

  /**
   * Returns whether a call computes for long. Such calls share a few threads and do not delay other
   * calls. Sessions take turns at these threads. When too many calls wait, further ones are
   * refused.
   */
  default boolean cpuBound() {
    return false;
  }

  /**
   * Runs the tool. May block for any time. Cancelling the call interrupts its thread and drops the
   * result.
   *
   * @param arguments fit the schema
   * @param call sends messages to the client during the call
   * @throws InvalidArgumentsException if the arguments have errors that the schema cannot express;
   *     the model gets the message and may try again
   * @throws Client.ClientException if a request to the client fails; the model gets the message
   * @throws Exception if the tool fails; the exception is logged and hidden from the client
   */
  ToolResult call(A arguments, ToolCall call) throws Exception;
}
