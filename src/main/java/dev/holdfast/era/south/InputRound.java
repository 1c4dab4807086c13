package dev.holdfast.era.south;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.protocol.ClientCapabilities;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.upstream.UpstreamMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A result that asks for input (2026-07-28, Multi Round-Trip Requests). Each question becomes a
 * request to the client, with an id of the gateway.
 */
final class InputRound {

  static final String TYPE = "input_required";

  private static final int MAX_QUESTIONS = 32;
  private static final String URL = "url";

  private final ClientAnswers answers;
  private final List<Question> questions = new ArrayList<>();
  private final List<UpstreamMessage> requests = new ArrayList<>();
  private final @Nullable String state;

  private record Question(
      String key, String method, RequestId id, CompletableFuture<Message.Response> answer) {}

  /** Begins to wait for answers. The caller {@linkplain #close closes} the round. */
  InputRound(byte[] result, ClientFacts client, ClientAnswers answers) {
    this.answers = answers;
    state = JsonEdit.raw(result, "result", "requestState");
    questions(result).forEach((key, question) -> add(key, question.getBytes(UTF_8), client));
  }

  private void add(String key, byte[] question, ClientFacts client) {
    RequestId id = answers.newId();
    String method = method(question);
    JsonEdit edit = new JsonEdit().set("\"2.0\"", "jsonrpc").set(id.json(), "id");
    if (method.equals(ClientCapabilities.ELICITATION)
        && ClientCapabilities.mode(question).equals(URL)) {
      edit.set(JsonEdit.quote(UUID.randomUUID().toString()), "params", "elicitationId");
    }
    requests.add(new UpstreamMessage(edit.apply(question), null));
    questions.add(new Question(key, method, id, answers.await(client.session(), id)));
  }

  private static Map<String, String> questions(byte[] result) {
    return JsonEdit.members(JsonEdit.raw(result, "result", "inputRequests"));
  }

  private static String method(byte[] question) {
    return String.valueOf(JsonEdit.text(JsonEdit.raw(question, "method")));
  }

  /** Returns why a client cannot be asked; null if it can. */
  static @Nullable String problem(byte[] result, ClientFacts client) {
    Map<String, String> questions = questions(result);
    if (questions.size() > MAX_QUESTIONS) {
      return "The server asks for too much input at once";
    }
    for (String question : questions.values()) {
      byte[] json = question.getBytes(UTF_8);
      String method = method(json);
      if (client.declared().missing(method, json) != null) {
        return "The server needs input that the client cannot give: " + method;
      }
    }
    return null;
  }

  /** The requests to the client. */
  List<UpstreamMessage> requests() {
    return requests;
  }

  /** Returns true if the server only wants the request again, with its state. */
  boolean asksNothing() {
    return questions.isEmpty();
  }

  /**
   * Waits for the answers.
   *
   * @param patience zero for no limit
   * @return the request with the answers; null if the client refuses to answer
   * @throws CancellationException after {@link #close}
   */
  byte @Nullable [] retry(byte[] request, Duration patience) throws InterruptedException {
    JsonEdit edit = new JsonEdit().set(JsonEdit.quote("input-" + UUID.randomUUID()), "id");
    for (Question question : questions) {
      String answer = answer(question, patience);
      if (answer == null) {
        return null;
      }
      edit.set(answer, "params", "inputResponses", question.key());
    }
    if (state != null) {
      edit.set(state, "params", "requestState");
    }
    return edit.apply(request);
  }

  private static @Nullable String answer(Question question, Duration patience)
      throws InterruptedException {
    try {
      Message.Response answer =
          patience.isZero()
              ? question.answer().get()
              : question.answer().get(patience.toNanos(), TimeUnit.NANOSECONDS);
      if (!answer.error()) {
        return JsonEdit.raw(answer.bytes(), "result");
      }
    } catch (TimeoutException silent) {
      // As if it had refused.
    } catch (ExecutionException e) {
      throw new IllegalStateException("The answer never fails", e);
    }
    return question.method().equals(ClientCapabilities.ELICITATION)
        ? "{\"action\":\"cancel\"}"
        : null;
  }

  /** Ends the wait for answers. */
  void close() {
    questions.forEach(question -> answers.forget(question.id()));
  }
}
