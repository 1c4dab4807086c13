package dev.holdfast.protocol;

import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One JSON-RPC message: its envelope and its exact bytes.
 *
 * <p>The byte arrays are shared, not copied, and must not be changed. Two messages are equal only
 * if they share the same array.
 */
public sealed interface Message {

  /** Returns the exact bytes as received: one JSON object. */
  byte[] bytes();

  /** Returns the id of the request that this message cancels; null if it cancels none. */
  default @Nullable RequestId cancelledRequestId() {
    return null;
  }

  /** Returns true if the client accepts the server's response to {@code initialize}. */
  default boolean isInitialized() {
    return false;
  }

  /**
   * Returns {@code _meta["io.modelcontextprotocol/protocolVersion"]} of a message without a session
   * (2026-07-28); empty if it is no string, null if there is none.
   */
  default @Nullable String version() {
    return null;
  }

  /** Returns the strings with these names in {@code params._meta}, by their names. */
  default Map<String, String> meta(String... names) {
    String prefix = "params._meta.";
    String[] paths = Stream.of(names).map(name -> prefix + name).toArray(String[]::new);
    return JsonPathReader.read(bytes(), paths).entrySet().stream()
        .collect(
            Collectors.toMap(
                found -> found.getKey().substring(prefix.length()), Map.Entry::getValue));
  }

  /**
   * A message that needs a response.
   *
   * @param id the id that the response echoes
   * @param method the method's name
   * @param toolName {@code params.name} of a {@code tools/call}, if it is a string
   * @param progressToken the raw JSON of {@code params._meta.progressToken}, if it is a string or a
   *     number
   * @param version as in {@link Message#version}
   * @param bytes the exact body
   */
  record Request(
      RequestId id,
      String method,
      @Nullable String toolName,
      @Nullable String progressToken,
      @Nullable String version,
      byte[] bytes)
      implements Message {

    /** Returns true if this request opens a session. */
    public boolean isInitialize() {
      return method.equals(Methods.INITIALIZE);
    }
  }

  /**
   * A message without a response.
   *
   * @param method the method's name
   * @param cancelledRequestId {@code params.requestId} of a {@code notifications/cancelled}, if it
   *     is a string or a number
   * @param progressToken the raw JSON of {@code params.progressToken} of a {@code
   *     notifications/progress}, if it is a string or a number
   * @param version as in {@link Message#version}
   * @param bytes the exact body
   */
  record Notification(
      String method,
      @Nullable RequestId cancelledRequestId,
      @Nullable String progressToken,
      @Nullable String version,
      byte[] bytes)
      implements Message {

    @Override
    public boolean isInitialized() {
      return method.equals(Methods.NOTIFICATIONS_INITIALIZED);
    }
  }

  /**
   * The response to a request.
   *
   * @param id the id of the request; null only in an error about a message with an unreadable id
   * @param error true if it carries an error, false if it carries a result
   * @param bytes the exact body
   */
  record Response(@Nullable RequestId id, boolean error, byte[] bytes) implements Message {

    /**
     * Returns the revision that the result of {@code initialize} names, supported here or not.
     * Empty if this is an error or names none: then there is no session.
     */
    public Optional<String> protocolVersion() {
      String path = "result.protocolVersion";
      return Optional.ofNullable(JsonPathReader.read(bytes, path).get(path));
    }
  }
}
