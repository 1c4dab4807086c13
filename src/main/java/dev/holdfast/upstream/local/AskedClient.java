package dev.holdfast.upstream.local;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.protocol.Message;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeoutException;

/** The client of one running call. */
final class AskedClient implements Client {

  private static final String ELICIT = "elicitation/create";
  private static final String SAMPLE = "sampling/createMessage";
  private static final String ROOTS = "roots/list";

  private final Caller caller;
  private final Parts parts;
  private final MessageQueue.Writer out;

  AskedClient(Caller caller, Parts parts, MessageQueue.Writer out) {
    this.caller = caller;
    this.parts = parts;
    this.out = out;
  }

  @Override
  public ClientCapabilities capabilities() {
    return caller.capabilities();
  }

  @Override
  public <F extends Record> ElicitationResult<F> elicit(
      String message, Class<F> form, Duration timeout) throws InterruptedException {
    RecordType<F> type = parts.forms().of(form);
    demand(capabilities().elicitation(), ELICIT);
    JsonNode result =
        ask(
            ELICIT,
            json -> {
              json.writeStringField("message", Messages.utf8(message));
              json.writeFieldName("requestedSchema");
              json.writeTree(type.schema());
            },
            timeout);
    return switch (result.path("action").asText()) {
      case "accept" -> new ElicitationResult.Accepted<>(read(type, result.path("content")));
      case "decline" -> new ElicitationResult.Declined<>();
      case "cancel" -> new ElicitationResult.Dismissed<>();
      default -> throw new ClientException.Unreadable(ELICIT, "no such action");
    };
  }

  private static <F extends Record> F read(RecordType<F> type, JsonNode content) {
    try {
      return type.read(content instanceof ObjectNode object ? object : Messages.newObject());
    } catch (InvalidArgumentsException e) {
      throw new ClientException.Unreadable(ELICIT, String.valueOf(e.getMessage()));
    }
  }

  @Override
  public SamplingResult sample(SamplingRequest sampling, Duration timeout)
      throws InterruptedException {
    demand(capabilities().sampling(), SAMPLE);
    JsonNode result = ask(SAMPLE, json -> Messages.sampling(sampling, json), timeout);
    JsonNode said = result.path("content");
    List<Content> content = new ArrayList<>();
    for (JsonNode piece : said.isArray() ? said : List.of(said)) {
      content.add(
          Content.read(piece)
              .orElseThrow(() -> new ClientException.Unreadable(SAMPLE, "unknown content")));
    }
    return new SamplingResult(
        content, result.path("model").asText(), result.path("stopReason").textValue());
  }

  @Override
  public List<Root> roots(Duration timeout) throws InterruptedException {
    demand(capabilities().roots(), ROOTS);
    JsonNode result = ask(ROOTS, _ -> {}, timeout);
    List<Root> roots = new ArrayList<>();
    for (JsonNode root : result.path("roots")) {
      roots.add(new Root(root.path("uri").asText(), root.path("name").textValue()));
    }
    return List.copyOf(roots);
  }

  /** "The server MUST NOT" ask for what the client did not declare. */
  private static void demand(boolean declared, String method) {
    if (!declared) {
      throw new ClientException.Unsupported(method);
    }
  }

  private JsonNode ask(String method, Messages.Members params, Duration timeout)
      throws InterruptedException {
    try (Questions.Question question = parts.questions().open(caller.session())) {
      out.write(Messages.request(question.id(), method, params));
      try {
        return result(method, question.await(timeout));
      } catch (TimeoutException e) {
        out.write(Messages.cancelled(question.id()));
        throw new ClientException.TimedOut(method);
      } catch (InterruptedException e) {
        withdraw(question);
        throw e;
      }
    }
  }

  /** The tool may interrupt itself; when the call is over there is nobody to tell. */
  private void withdraw(Questions.Question question) {
    try {
      out.write(Messages.cancelled(question.id()));
    } catch (CancellationException _) {
      // As said.
    }
  }

  private static JsonNode result(String method, Message.Response response) {
    ObjectNode read =
        Messages.read(response.bytes())
            .orElseThrow(() -> new ClientException.Unreadable(method, "it cannot be read"));
    if (response.error()) {
      JsonNode error = read.path("error");
      throw new ClientException.Refused(
          method, error.path("code").asInt(), error.path("message").asText());
    }
    return read.path("result");
  }
}
