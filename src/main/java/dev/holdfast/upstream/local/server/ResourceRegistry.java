package dev.holdfast.upstream.local.server;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.Message;
import dev.holdfast.upstream.local.ContentBlock;
import dev.holdfast.upstream.local.InvalidArgumentsException;
import dev.holdfast.upstream.local.Resource;
import dev.holdfast.upstream.local.ResourceTemplate;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/** The resources of a server by URI, and its templates. */
final class ResourceRegistry {

  private static final Logger LOG = Logger.getLogger(ResourceRegistry.class);

  /** MCP 2025-11-25, Resources, Error Handling. */
  private static final int NOT_FOUND = -32002;

  private final SortedMap<String, Resource> resources = new TreeMap<>();
  private final ObjectNode list = Json.object();
  private final SortedMap<String, RegisteredTemplate> templates = new TreeMap<>();
  private final ObjectNode templateList = Json.object();

  /**
   * Throws {@link IllegalArgumentException} if two resources have the same URI, or a template is
   * malformed.
   */
  ResourceRegistry(List<Resource> resources, List<ResourceTemplate> templates) {
    for (Resource resource : resources) {
      if (this.resources.put(resource.uri(), resource) != null) {
        throw new IllegalArgumentException("Two resources are at \"" + resource.uri() + "\"");
      }
    }
    ArrayNode descriptions = list.putArray("resources");
    for (Resource each : this.resources.values()) {
      descriptions.add(
          describe(each.name(), each.description(), each.mimeType()).put("uri", each.uri()));
    }
    ArrayNode described = templateList.putArray("resourceTemplates");
    for (ResourceTemplate template : templates) {
      if (this.templates.put(template.uriTemplate(), RegisteredTemplate.of(template)) != null) {
        throw new IllegalArgumentException(
            "Two templates are at \"" + template.uriTemplate() + "\"");
      }
    }
    this.templates.forEach((uri, each) -> {
      ResourceTemplate template = each.template();
      described.add(
          describe(template.name(), template.description(), template.mimeType())
              .put("uriTemplate", uri));
    });
  }

  private record RegisteredTemplate(ResourceTemplate template, UriTemplate uris) {
    static RegisteredTemplate of(ResourceTemplate template) {
      return new RegisteredTemplate(template, UriTemplate.parse(template.uriTemplate()));
    }
  }

  private static ObjectNode describe(String name, String description, @Nullable String mimeType) {
    ObjectNode described = Json.object().put("name", name).put("description", description);
    if (mimeType != null) {
      described.put("mimeType", mimeType);
    }
    return described;
  }

  boolean isEmpty() {
    return resources.isEmpty() && templates.isEmpty();
  }

  /** Returns the result of a {@code resources/…} request. Without resources, no method is known. */
  ObjectNode answer(Message.Request request) {
    if (isEmpty()) {
      throw new RequestException(JsonRpcErrorCode.METHOD_NOT_FOUND);
    }
    return switch (request.method()) {
      case "resources/list" -> Json.onlyPage(request, list);
      case "resources/templates/list" -> Json.onlyPage(request, templateList);
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
    try {
      ObjectNode result = Json.object();
      result.putArray("contents").add(ContentJson.resourceContents(document(uri)));
      return result;
    } catch (RequestException refused) {
      throw refused;
    } catch (InvalidArgumentsException unknown) {
      throw notFound(uri, String.valueOf(unknown.getMessage()));
    } catch (Throwable e) {
      LOG.errorf(e, "a resource failed uri=%s", uri);
      throw new RequestException(JsonRpcErrorCode.INTERNAL_ERROR);
    }
  }

  private ContentBlock.EmbeddedResource document(String uri) throws Exception {
    Resource resource = resources.get(uri);
    if (resource != null) {
      return resource.read();
    }
    for (RegisteredTemplate each : templates.values()) {
      Optional<Map<String, String>> variables = each.uris().match(uri);
      if (variables.isPresent()) {
        return each.template().read(uri, variables.get());
      }
    }
    throw notFound(uri, "Resource not found");
  }

  private static RequestException notFound(String uri, String text) {
    return new RequestException(NOT_FOUND, text, Map.of("uri", uri));
  }

  /** Suggests values of a variable. */
  List<String> complete(ObjectNode reference, String variable, String begun) throws Exception {
    String uri = reference.path("uri").textValue();
    RegisteredTemplate found = uri == null ? null : templates.get(uri);
    if (found == null) {
      throw RequestException.invalidParams("there is no such template");
    }
    return found.template().complete(variable, begun);
  }
}
