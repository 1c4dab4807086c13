package dev.holdfast.upstream.local.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.upstream.MessageQueue;
import dev.holdfast.upstream.local.Client;
import dev.holdfast.upstream.local.ContentBlock;
import dev.holdfast.upstream.local.InvalidArgumentsException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The client of one running call. Sends its requests on the stream of the call. */
record CallClient(
    LocalSessionId session,
    ClientRequests requests,
    MessageQueue.Writer out,
    Set<String> keysInUse,
    @Nullable String key)
    implements Client {

  private static final String ELICITATION_CREATE = "elicitation/create";
  private static final String SAMPLING_CREATE_MESSAGE = "sampling/createMessage";
  private static final String ROOTS_LIST = "roots/list";
  private static final Pattern KEY = Pattern.compile("[A-Za-z0-9_.-]{1,64}");

  CallClient(LocalSessionId session, ClientRequests requests, MessageQueue.Writer out) {
    this(session, requests, out, ConcurrentHashMap.newKeySet(), null);
  }

  @Override
  public Client.Capabilities capabilities() {
    return session.capabilities();
  }

  @Override
  public Client withKey(String chosen) {
    if (!KEY.matcher(chosen).matches()) {
      throw new IllegalArgumentException("Not a key: \"" + chosen + "\"");
    }
    return new CallClient(session, requests, out, keysInUse, chosen);
  }

  @Override
  public <F extends Record> Client.ElicitationResult<F> elicit(
      String message, Class<F> form, Duration timeout) throws InterruptedException {
    RecordCodec<F> codec = RecordCodec.form(form);
    requireCapability(capabilities().elicitation(), ELICITATION_CREATE);
    ObjectNode params = Json.object().put("message", message);
    params.set("requestedSchema", codec.schema());
    JsonNode result = request(ELICITATION_CREATE, params, timeout);
    return switch (result.path("action").asText()) {
      case "accept" -> new Client.ElicitationResult.Accept<>(read(codec, result.path("content")));
      case "decline" -> new Client.ElicitationResult.Decline<>();
      case "cancel" -> new Client.ElicitationResult.Cancel<>();
      default -> throw new Client.ClientException.Unreadable(ELICITATION_CREATE, "no such action");
    };
  }

  private static <F extends Record> F read(RecordCodec<F> codec, JsonNode content) {
    try {
      return codec.read(content instanceof ObjectNode object ? object : Json.object());
    } catch (InvalidArgumentsException e) {
      throw new Client.ClientException.Unreadable(
          ELICITATION_CREATE, String.valueOf(e.getMessage()));
    }
  }

  @Override
  public Client.SamplingResult sample(Client.SamplingRequest sampling, Duration timeout)
      throws InterruptedException {
    requireCapability(capabilities().sampling(), SAMPLING_CREATE_MESSAGE);
    ObjectNode params = Json.object();
    params.set("messages", ContentJson.messages(sampling.messages()));
    params.put("maxTokens", sampling.maxTokens());
    if (sampling.systemPrompt() != null) {
      params.put("systemPrompt", sampling.systemPrompt());
    }
    JsonNode result = request(SAMPLING_CREATE_MESSAGE, params, timeout);
    JsonNode blocks = result.path("content");
    List<ContentBlock> content = new ArrayList<>();
    for (JsonNode block : blocks.isArray() ? blocks : List.of(blocks)) {
      content.add(
          ContentJson.read(block)
              .orElseThrow(() ->
                  new Client.ClientException.Unreadable(
                      SAMPLING_CREATE_MESSAGE, "unknown content")));
    }
    return new Client.SamplingResult(
        content, result.path("model").asText(), result.path("stopReason").textValue());
  }

  @Override
  public List<Client.Root> roots(Duration timeout) throws InterruptedException {
    requireCapability(capabilities().roots(), ROOTS_LIST);
    List<Client.Root> roots = new ArrayList<>();
    for (JsonNode root : request(ROOTS_LIST, Json.object(), timeout).path("roots")) {
      roots.add(new Client.Root(root.path("uri").asText(), root.path("name").textValue()));
    }
    return List.copyOf(roots);
  }

  /** A server must not send requests for which the client declared no capability. */
  private static void requireCapability(boolean declared, String method) {
    if (!declared) {
      throw new Client.ClientException.Unsupported(method);
    }
  }

  private JsonNode request(String method, ObjectNode params, Duration timeout)
      throws InterruptedException {
    if (key != null && !keysInUse.add(key)) {
      throw new IllegalArgumentException("Another request waits under the key \"" + key + "\"");
    }
    RequestId id = requests.newId(key);
    try {
      return result(
          method,
          requests.await(
              session, id, () -> send(ServerMessages.request(id, method, params)), timeout));
    } catch (TimeoutException e) {
      cancel(id);
      throw new Client.ClientException.TimedOut(method);
    } catch (InterruptedException e) {
      cancel(id);
      throw e;
    } finally {
      if (key != null) {
        keysInUse.remove(key);
      }
    }
  }

  private void send(byte[] request) {
    if (!out.write(request)) {
      throw new CancellationException("The call is over");
    }
  }

  /** Does nothing when the call is over, as its stream has no reader. */
  private void cancel(RequestId id) {
    boolean _ = out.write(ServerMessages.cancelled(id));
  }

  private static JsonNode result(String method, Message.Response response) {
    ObjectNode json =
        Json.read(response.bytes())
            .orElseThrow(() -> new Client.ClientException.Unreadable(method, "it cannot be read"));
    if (response.error()) {
      JsonNode error = json.path("error");
      throw new Client.ClientException.Refused(
          method, error.path("code").asInt(), error.path("message").asText());
    }
    return json.path("result");
  }
}
