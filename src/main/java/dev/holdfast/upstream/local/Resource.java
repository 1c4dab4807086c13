package dev.holdfast.upstream.local;

import org.jspecify.annotations.Nullable;

/**
 * Something with an address that clients may read. Thread-safe. All but {@link #read} never
 * changes, and is asked for once.
 *
 * @see <a href="https://modelcontextprotocol.io/specification/2025-11-25/server/resources">MCP
 *     2025-11-25, Resources</a>
 */
public interface Resource {

  /** Its address; unique. */
  String uri();

  /** Its name, for people. */
  String name();

  /** What it is, for models. */
  String description();

  /** Of what kind it is, such as {@code text/plain}; null if it is unknown. */
  default @Nullable String mimeType() {
    return null;
  }

  /**
   * Reads it. May wait, but should not compute for long; cannot be cancelled.
   *
   * @return a text, or bytes; with its own address, or that of a part
   * @throws Exception if it cannot be read; it is logged, and the client is only told that it
   *     failed
   */
  Content.Embedded read() throws Exception;
}
