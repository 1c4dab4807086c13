package dev.holdfast.upstream.local;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.Message;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/** The prompts by name, and their list as it goes over the wire. */
final class PromptRegistry {

  private static final Logger LOG = System.getLogger(PromptRegistry.class.getName());

  private final SortedMap<String, Bound<?>> prompts = new TreeMap<>();
  private final List<ObjectNode> descriptions;

  /** A prompt with the record that it takes. */
  private record Bound<A extends Record>(Prompt<A> prompt, RecordType<A> arguments) {

    static <A extends Record> Bound<A> of(Prompt<A> prompt) {
      return new Bound<>(prompt, RecordType.of(prompt.arguments()));
    }

    List<Turn> get(ObjectNode given) throws Exception {
      return prompt.get(arguments.read(given));
    }
  }

  /**
   * @throws IllegalArgumentException if two have the same name, or one takes more than texts
   */
  PromptRegistry(List<Prompt<?>> prompts) {
    for (Prompt<?> prompt : prompts) {
      if (this.prompts.put(prompt.name(), Bound.of(prompt)) != null) {
        throw new IllegalArgumentException("Two prompts have the name \"" + prompt.name() + "\"");
      }
    }
    descriptions = this.prompts.values().stream().map(PromptRegistry::describe).toList();
  }

  private static ObjectNode describe(Bound<?> bound) {
    ObjectNode description = Messages.newObject();
    description.put("name", bound.prompt().name());
    description.put("description", bound.prompt().description());
    ArrayNode arguments = description.putArray("arguments");
    ObjectNode schema = bound.arguments().schema();
    schema
        .path("properties")
        .properties()
        .forEach(property ->
            arguments.add(
                argument(
                    bound.prompt().name(),
                    property.getKey(),
                    property.getValue(),
                    schema.path("required"))));
    return description;
  }

  /** Clients give each as text. */
  private static ObjectNode argument(
      String prompt, String name, JsonNode schema, JsonNode required) {
    if (!schema.path("type").asText().equals("string")) {
      throw new IllegalArgumentException("Not a text: " + prompt + "." + name);
    }
    ObjectNode argument = Messages.newObject();
    argument.put("name", name);
    if (schema.has("description")) {
      argument.set("description", schema.get("description"));
    }
    for (JsonNode each : required) {
      if (each.asText().equals(name)) {
        argument.put("required", true);
      }
    }
    return argument;
  }

  boolean isEmpty() {
    return descriptions.isEmpty();
  }

  /**
   * Answers a request for prompts. Where there are none, there are no such methods.
   *
   * @throws InvalidParamsException if it is not what its method takes
   */
  byte[] answer(Message.Request request) {
    return switch (request.method()) {
      case String _ when isEmpty() -> unknown(request);
      case "prompts/list" -> Messages.page(Messages.firstPage(request), "prompts", descriptions);
      case "prompts/get" -> get(request);
      default -> unknown(request);
    };
  }

  private static byte[] unknown(Message.Request request) {
    return JsonRpcErrors.error(request.id(), JsonRpcErrorCode.METHOD_NOT_FOUND);
  }

  @SuppressWarnings("CatchThrowable") // whatever it does, the client gets a definite end
  private byte[] get(Message.Request request) {
    ObjectNode params = Messages.params(request);
    String name = params.path("name").textValue();
    Bound<?> prompt = name == null ? null : prompts.get(name);
    if (prompt == null) {
      throw new InvalidParamsException("there is no such prompt");
    }
    ObjectNode given = Messages.objectOrEmpty(params, "arguments");
    try {
      List<Turn> turns = prompt.get(given);
      return Messages.result(request.id(), json -> Turn.write(turns, json));
    } catch (InvalidArgumentsException e) {
      throw new InvalidParamsException(String.valueOf(e.getMessage()));
    } catch (Throwable e) {
      LOG.log(Level.ERROR, "A prompt failed: prompt=" + name, e);
      return JsonRpcErrors.error(request.id(), JsonRpcErrorCode.INTERNAL_ERROR);
    }
  }
}
