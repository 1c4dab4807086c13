package dev.holdfast.upstream.local;

import org.jspecify.annotations.Nullable;

/**
 * A part of a tool result, of a prompt or of a sampling result. Arrays of bytes are not copied and
 * must not be changed.
 *
 * @see <a
 *     href="https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-result">MCP
 *     2025-11-25, Tools, Tool Result</a>
 */
public sealed interface ContentBlock {

  /** Text, for people and models. */
  record Text(String text) implements ContentBlock {}

  /**
   * An image.
   *
   * @param mimeType such as {@code image/png}
   */
  record Image(byte[] data, String mimeType) implements ContentBlock {}

  /**
   * A sound. Clients know it since 2025-03-26.
   *
   * @param mimeType such as {@code audio/wav}
   */
  record Audio(byte[] data, String mimeType) implements ContentBlock {}

  /**
   * A link to a resource that the client may read. Clients know it since 2025-06-18.
   *
   * @param name for people
   * @param description for models; null for none
   * @param mimeType null if unknown
   */
  record ResourceLink(
      String uri, String name, @Nullable String description, @Nullable String mimeType)
      implements ContentBlock {}

  /** The contents of a resource. */
  sealed interface EmbeddedResource extends ContentBlock {}

  /**
   * A resource with its text.
   *
   * @param mimeType null if unknown
   */
  record TextResource(String uri, @Nullable String mimeType, String text)
      implements EmbeddedResource {}

  /**
   * A resource with its bytes.
   *
   * @param mimeType null if unknown
   */
  record BlobResource(String uri, @Nullable String mimeType, byte[] data)
      implements EmbeddedResource {}
}
