package dev.holdfast.upstream.local;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.Message;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** The resources by address, and their list as it goes over the wire. */
final class ResourceRegistry {

  private static final Logger LOG = System.getLogger(ResourceRegistry.class.getName());

  /**
   * @see <a
   *     href="https://modelcontextprotocol.io/specification/2025-11-25/server/resources#error-handling">MCP
   *     2025-11-25, Resources, Error Handling</a>
   */
  private static final int NOT_FOUND = -32002;

  private final SortedMap<String, Resource> resources = new TreeMap<>();
  private final List<ObjectNode> descriptions;

  /**
   * @throws IllegalArgumentException if two have the same address
   */
  ResourceRegistry(List<Resource> resources) {
    for (Resource resource : resources) {
      if (this.resources.put(resource.uri(), resource) != null) {
        throw new IllegalArgumentException("Two resources are at \"" + resource.uri() + "\"");
      }
    }
    descriptions = this.resources.values().stream().map(ResourceRegistry::describe).toList();
  }

  private static ObjectNode describe(Resource resource) {
    ObjectNode description = Messages.newObject();
    description.put("uri", resource.uri());
    description.put("name", resource.name());
    description.put("description", resource.description());
    if (resource.mimeType() != null) {
      description.put("mimeType", resource.mimeType());
    }
    return description;
  }

  boolean isEmpty() {
    return descriptions.isEmpty();
  }

  /**
   * Answers a request for resources. Where there are none, there are no such methods.
   *
   * @throws InvalidParamsException if it is not what its method takes
   */
  byte[] answer(Message.Request request) {
    return switch (request.method()) {
      case String _ when isEmpty() -> unknown(request);
      case "resources/list" ->
          Messages.page(Messages.firstPage(request), "resources", descriptions);
      // None has variables in its address.
      case "resources/templates/list" ->
          Messages.page(Messages.firstPage(request), "resourceTemplates", List.of());
      case "resources/read" -> read(request);
      default -> unknown(request);
    };
  }

  private static byte[] unknown(Message.Request request) {
    return JsonRpcErrors.error(request.id(), JsonRpcErrorCode.METHOD_NOT_FOUND);
  }

  @SuppressWarnings("CatchThrowable") // whatever it does, the client gets a definite end
  private byte[] read(Message.Request request) {
    String uri = Messages.params(request).path("uri").textValue();
    if (uri == null) {
      throw new InvalidParamsException("uri must be a string");
    }
    Resource resource = resources.get(uri);
    if (resource == null) {
      return JsonRpcErrors.error(request.id(), NOT_FOUND, "Resource not found", Map.of("uri", uri));
    }
    try {
      Content.Embedded content = resource.read();
      return Messages.result(
          request.id(),
          json -> {
            json.writeArrayFieldStart("contents");
            Content.writeResource(content, json);
            json.writeEndArray();
          });
    } catch (Throwable e) {
      LOG.log(Level.ERROR, "A resource cannot be read: uri=" + uri, e);
      return JsonRpcErrors.error(request.id(), JsonRpcErrorCode.INTERNAL_ERROR);
    }
  }
}
