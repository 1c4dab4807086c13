package dev.holdfast.upstream.local.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.Message;
import dev.holdfast.upstream.local.AskingPrompt;
import dev.holdfast.upstream.local.InvalidArgumentsException;
import dev.holdfast.upstream.local.Prompt;
import dev.holdfast.upstream.local.ToolCall;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/** The prompts of a server by name. */
final class PromptRegistry {

  private static final Logger LOG = Logger.getLogger(PromptRegistry.class);
  private static final String GET = "prompts/get";

  private final SortedMap<String, RegisteredPrompt<?>> prompts = new TreeMap<>();
  private final ObjectNode list = Json.object();

  private record RegisteredPrompt<A extends Record>(Prompt<A> prompt, RecordCodec<A> arguments)
      implements Callee {

    static <A extends Record> RegisteredPrompt<A> of(Prompt<A> prompt) {
      return new RegisteredPrompt<>(prompt, RecordCodec.of(prompt.arguments()));
    }

    ObjectNode get(ObjectNode given) throws Exception {
      try {
        return json(prompt.get(arguments.read(given)));
      } catch (InvalidArgumentsException e) {
        throw RequestException.invalidParams(String.valueOf(e.getMessage()));
      }
    }

    private static ObjectNode json(List<Prompt.PromptMessage> messages) {
      ObjectNode result = Json.object();
      result.set("messages", ContentJson.messages(messages));
      return result;
    }

    @Override
    public String name() {
      return prompt.name();
    }

    @Override
    public boolean cpuBound() {
      return false;
    }

    @Override
    public ObjectNode call(ObjectNode given, ToolCall call) throws Exception {
      try {
        return prompt instanceof AskingPrompt<A> asking
            ? json(asking.get(arguments.read(given), call.client()))
            : get(given);
      } catch (InvalidArgumentsException e) {
        throw RequestException.invalidParams(String.valueOf(e.getMessage()));
      }
    }

    @Override
    public ObjectNode failure(String text) {
      throw new RequestException(JsonRpcErrorCode.INTERNAL_ERROR, text);
    }

    @Override
    public ObjectNode failure(Throwable unexpected) {
      LOG.errorf(unexpected, "a prompt failed prompt=%s", name());
      throw new RequestException(JsonRpcErrorCode.INTERNAL_ERROR);
    }

    ObjectNode describe() {
      ObjectNode description = Json.object();
      description.put("name", prompt.name()).put("description", prompt.description());
      ArrayNode described = description.putArray("arguments");
      for (Map.Entry<String, JsonNode> property :
          arguments.schema().path("properties").properties()) {
        described.add(describeArgument(property.getKey(), property.getValue()));
      }
      return description;
    }

    /** Clients send every argument as a text. */
    private ObjectNode describeArgument(String name, JsonNode schema) {
      if (!schema.path("type").asText().equals("string")) {
        throw new IllegalArgumentException("Not a text: " + prompt.name() + "." + name);
      }
      ObjectNode argument = Json.object().put("name", name);
      if (schema.has("description")) {
        argument.set("description", schema.get("description"));
      }
      for (JsonNode required : arguments.schema().path("required")) {
        if (required.asText().equals(name)) {
          argument.put("required", true);
        }
      }
      return argument;
    }
  }

  /** Throws {@link IllegalArgumentException} if a name is taken or an argument is no text. */
  PromptRegistry(List<Prompt<?>> prompts) {
    for (Prompt<?> prompt : prompts) {
      if (this.prompts.put(prompt.name(), RegisteredPrompt.of(prompt)) != null) {
        throw new IllegalArgumentException("Two prompts have the name \"" + prompt.name() + "\"");
      }
    }
    ArrayNode descriptions = list.putArray("prompts");
    this.prompts.values().forEach(prompt -> descriptions.add(prompt.describe()));
  }

  boolean isEmpty() {
    return prompts.isEmpty();
  }

  /** Returns the result of a {@code prompts/…} request. Without prompts, no method is known. */
  ObjectNode answer(Message.Request request) {
    if (isEmpty()) {
      throw new RequestException(JsonRpcErrorCode.METHOD_NOT_FOUND);
    }
    return switch (request.method()) {
      case "prompts/list" -> Json.onlyPage(request, list);
      case GET -> get(request);
      default -> throw new RequestException(JsonRpcErrorCode.METHOD_NOT_FOUND);
    };
  }

  /** Returns the prompt that a request gets, if it asks the client; null if not. */
  @Nullable Callee asking(Message.Request request) {
    RegisteredPrompt<?> found = request.method().equals(GET) ? find(Json.params(request)) : null;
    return found != null && found.prompt() instanceof AskingPrompt<?> ? found : null;
  }

  private @Nullable RegisteredPrompt<?> find(ObjectNode named) {
    String name = named.path("name").textValue();
    return name == null ? null : prompts.get(name);
  }

  private RegisteredPrompt<?> named(ObjectNode named) {
    RegisteredPrompt<?> prompt = find(named);
    if (prompt == null) {
      throw RequestException.invalidParams("there is no such prompt");
    }
    return prompt;
  }

  @SuppressWarnings("CatchThrowable") // the client always gets a response
  private ObjectNode get(Message.Request request) {
    ObjectNode params = Json.params(request);
    RegisteredPrompt<?> prompt = named(params);
    ObjectNode given = Json.member(params, "arguments");
    try {
      return prompt.get(given);
    } catch (RequestException refused) {
      throw refused;
    } catch (Throwable e) {
      return prompt.failure(e);
    }
  }

  /** Suggests values of an argument. */
  List<String> complete(ObjectNode reference, String argument, String begun) throws Exception {
    return named(reference).prompt().complete(argument, begun);
  }
}
