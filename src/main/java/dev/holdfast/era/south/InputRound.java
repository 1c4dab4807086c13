package dev.holdfast.era.south;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.protocol.ClientCapabilities;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.state.SessionMemory;
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

  private final CallState state;
  private final ClientAnswers answers;
  private final List<CompletableFuture<String>> awaited = new ArrayList<>();

  /** Begins to wait for answers. The caller {@linkplain #close closes} the round. */
  InputRound(CallState state, ClientFacts client, ClientAnswers answers) {
    this.state = state;
    this.answers = answers;
    for (int i = 0; i < state.questions().size(); i++) {
      awaited.add(answers.await(client.session(), state.id(i)));
    }
  }

  /** Takes answers that other replicas have kept. */
  void complete(CallState kept) {
    boolean same = kept.round().equals(state.round());
    for (int i = 0; same && i < awaited.size(); i++) {
      String answer = kept.questions().get(i).answer();
      if (answer != null) {
        boolean _ = awaited.get(i).complete(answer);
      }
    }
  }

  /**
   * Returns the requests to the client.
   *
   * @param result asks for the input
   * @param cursor of the last request; null if the call cannot be resumed after it
   */
  List<UpstreamMessage> requests(byte[] result, @Nullable String cursor) {
    List<UpstreamMessage> requests = new ArrayList<>();
    for (String question : CallState.questions(result).values()) {
      byte[] json = question.getBytes(UTF_8);
      int number = requests.size();
      JsonEdit edit = new JsonEdit().set("\"2.0\"", "jsonrpc").set(state.id(number).json(), "id");
      if (CallState.method(json).equals(ClientCapabilities.ELICITATION)
          && ClientCapabilities.mode(json).equals(URL)) {
        edit.set(JsonEdit.quote(UUID.randomUUID().toString()), "params", "elicitationId");
      }
      boolean last = number == awaited.size() - 1;
      requests.add(new UpstreamMessage(edit.apply(json), last ? cursor : null));
    }
    return requests;
  }

  /** Returns why a client cannot be asked; null if it can. */
  static @Nullable String problem(byte[] result, ClientFacts client) {
    Map<String, String> questions = CallState.questions(result);
    if (questions.size() > MAX_QUESTIONS) {
      return "The server asks for too much input at once";
    }
    for (String question : questions.values()) {
      byte[] json = question.getBytes(UTF_8);
      String method = CallState.method(json);
      if (client.declared().missing(method, json) != null) {
        return "The server needs input that the client cannot give: " + method;
      }
    }
    return null;
  }

  /** Returns true if the server only wants the request again, with its state. */
  boolean asksNothing() {
    return awaited.isEmpty();
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
    for (int i = 0; i < awaited.size(); i++) {
      CallState.Question question = state.questions().get(i);
      String answer = answer(awaited.get(i), patience);
      if (answer.equals(ClientAnswers.REFUSAL)) {
        if (!question.method().equals(ClientCapabilities.ELICITATION)) {
          return null;
        }
        answer = "{\"action\":\"cancel\"}";
      }
      edit.set(answer, "params", "inputResponses", question.key());
    }
    if (state.requestState() != null) {
      edit.set(state.requestState(), "params", "requestState");
    }
    return edit.apply(request);
  }

  private static String answer(CompletableFuture<String> awaited, Duration patience)
      throws InterruptedException {
    try {
      return patience.isZero()
          ? awaited.get()
          : awaited.get(patience.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException silent) {
      return ClientAnswers.REFUSAL;
    } catch (ExecutionException e) {
      throw new IllegalStateException("The answer never fails", e);
    }
  }

  /** Removes the state from the store, as {@link CallState#remove} does. */
  boolean remove(SessionMemory memory) {
    return state.remove(memory);
  }

  /** Ends the wait for answers. */
  void close() {
    for (int i = 0; i < awaited.size(); i++) {
      answers.forget(state.id(i));
    }
  }
}
