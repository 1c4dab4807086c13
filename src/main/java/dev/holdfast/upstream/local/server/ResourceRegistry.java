package dev.holdfast.upstream.local.server;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.Message;
import dev.holdfast.upstream.local.Resource;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jboss.logging.Logger;

/** The resources of a server by URI. */
final class ResourceRegistry {

  private static final Logger LOG = Logger.getLogger(ResourceRegistry.class);

  /** MCP 2025-11-25, Resources, Error Handling. */
  private static final int NOT_FOUND = -32002;

  private final SortedMap<String, Resource> resources = new TreeMap<>();
  private final ObjectNode list = Json.object();
  private final ObjectNode templates = Json.object();

  /** Throws {@link IllegalArgumentException} if two resources have the same URI. */
  ResourceRegistry(List<Resource> resources) {
    for (Resource resource : resources) {
      if (this.resources.put(resource.uri(), resource) != null) {
        throw new IllegalArgumentException("Two resources are at \"" + resource.uri() + "\"");
      }
    }
    ArrayNode descriptions = list.putArray("resources");
    this.resources.values().forEach(resource -> descriptions.add(describe(resource)));
    templates.putArray("resourceTemplates");
  }

  private static ObjectNode describe(Resource resource) {
    ObjectNode description = Json.object();
    description
        .put("uri", resource.uri())
        .put("name", resource.name())
        .put("description", resource.description());
    if (resource.mimeType() != null) {
      description.put("mimeType", resource.mimeType());
    }
    return description;
  }

  boolean isEmpty() {
    return resources.isEmpty();
  }

  /** Returns the result of a {@code resources/…} request. Without resources, no method is known. */
  ObjectNode answer(Message.Request request) {
    if (isEmpty()) {
      throw new RequestException(JsonRpcErrorCode.METHOD_NOT_FOUND);
    }
    return switch (request.method()) {
      case "resources/list" -> Json.onlyPage(request, list);
      case "resources/templates/list" -> Json.onlyPage(request, templates);
      case "resources/read" -> read(request);
      default -> throw new RequestException(JsonRpcErrorCode.METHOD_NOT_FOUND);
    };
  }

  @SuppressWarnings("CatchThrowable") // the client always gets a response
  private ObjectNode read(Message.Request request) {
    String uri = Json.params(request).path("uri").textValue();
    if (uri == null) {
      throw RequestException.invalidParams("uri must be a string");
    }
    Resource resource = resources.get(uri);
    if (resource == null) {
      throw new RequestException(NOT_FOUND, "Resource not found", Map.of("uri", uri));
    }
    try {
      ObjectNode result = Json.object();
      result.putArray("contents").add(ContentJson.resourceContents(resource.read()));
      return result;
    } catch (Throwable e) {
      LOG.errorf(e, "a resource failed uri=%s", uri);
      throw new RequestException(JsonRpcErrorCode.INTERNAL_ERROR);
    }
  }
}
