package dev.holdfast.upstream.local;

import org.jspecify.annotations.Nullable;

/**
 * A document that clients may read. Thread-safe. All properties are constant and read once.
 *
 * @see <a href="https://modelcontextprotocol.io/specification/2025-11-25/server/resources">MCP
 *     2025-11-25, Resources</a>
 */
public interface Resource {

  /** Returns the unique URI. */
  String uri();

  /** Returns a name for people. */
  String name();

  /** Returns a description for models. */
  String description();

  /** Returns the media type, such as {@code text/plain}; null if unknown. */
  default @Nullable String mimeType() {
    return null;
  }

  /**
   * Reads the resource. May block, but should not compute for long. Cannot be cancelled.
   *
   * @return text or bytes, with the URI of the resource or of a part of it
   * @throws Exception if the resource fails; the exception is logged and hidden from the client
   */
  ContentBlock.EmbeddedResource read() throws Exception;
}
