package dev.holdfast.upstream.local;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Documents whose URIs have variable parts. Thread-safe. All properties are constant and read once.
 *
 * @see <a
 *     href="https://modelcontextprotocol.io/specification/2025-11-25/server/resources#resource-templates">MCP
 *     2025-11-25, Resources, Resource Templates</a>
 */
public interface ResourceTemplate {

  /**
   * Returns the URI with variables in braces, such as {@code orders://{customer}/{order}} (RFC
   * 6570, level 1). Behind a variable stands a reserved character, such as a slash, or nothing.
   */
  String uriTemplate();

  /** Returns a name for people. */
  String name();

  /** Returns a description for models. */
  String description();

  /** Returns the media type of all documents, such as {@code text/plain}; null if there is none. */
  default @Nullable String mimeType() {
    return null;
  }

  /**
   * Reads a document. May block, but should not compute for long. Cannot be cancelled.
   *
   * @param uri fits the template
   * @param variables values of the variables by name, decoded; none is empty
   * @return text or bytes
   * @throws InvalidArgumentsException if there is no such document; the client gets the message
   * @throws Exception if the resource fails; the exception is logged and hidden from the client
   */
  ContentBlock.EmbeddedResource read(String uri, Map<String, String> variables) throws Exception;

  /**
   * Suggests values of a variable, best first. Clients get at most 100.
   *
   * @param variable name of the variable
   * @param begun text that the person has entered so far; may be empty
   * @throws Exception if the resource fails; the exception is logged and hidden from the client
   */
  default List<String> complete(String variable, String begun) throws Exception {
    return List.of();
  }
}
