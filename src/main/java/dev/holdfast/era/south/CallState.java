package dev.holdfast.era.south;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.session.SessionStoreException;
import dev.holdfast.upstream.state.SessionMemory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * State of a call whose client is asked, while the server waits for nothing, or that the server has
 * made a task. The session keeps it, so that another replica can go on with the call.
 *
 * @param round id of the round, in no other use
 * @param request the request of the client, raw
 * @param rounds number of rounds so far
 * @param requestState of the server, raw; null for none
 * @param task id of the task, raw; null for none
 * @param asked keys of earlier questions of the task, which it may repeat for a while
 */
record CallState(
    String round,
    String request,
    int rounds,
    @Nullable String requestState,
    @Nullable String task,
    Set<String> asked,
    List<Question> questions) {

  /** Prefix of the names of kept states. */
  private static final String PREFIX = "call:";

  /** Maximum size of a kept state with all answers. */
  private static final int MAX_BYTES = 256 << 10;

  /**
   * A request to the client.
   *
   * @param key name of the server for it
   * @param answer raw result or a refusal; null while there is none
   */
  record Question(String key, String method, @Nullable String answer) {}

  /** The state of a call after a result that asks for input, or of a task. */
  static CallState of(
      byte[] result,
      Message.Request request,
      int rounds,
      @Nullable String task,
      Set<String> asked) {
    List<Question> questions = new ArrayList<>();
    questions(result)
        .forEach((key, question) ->
            questions.add(new Question(key, method(question.getBytes(UTF_8)), null)));
    return new CallState(
        UUID.randomUUID().toString(),
        new String(request.bytes(), UTF_8),
        rounds,
        JsonEdit.raw(result, "result", "requestState"),
        task,
        Set.copyOf(asked),
        questions);
  }

  /** Returns the requests to the client in a result, by their keys. */
  static Map<String, String> questions(byte[] result) {
    return JsonEdit.members(JsonEdit.raw(result, "result", "inputRequests"));
  }

  static String method(byte[] question) {
    return String.valueOf(JsonEdit.text(JsonEdit.raw(question, "method")));
  }

  /** Returns the name of the state of a request. */
  static String name(RequestId request) {
    return PREFIX + UUID.nameUUIDFromBytes(request.json().getBytes(UTF_8));
  }

  /** Returns the name of this state. */
  String name() {
    return name(new RequestId(String.valueOf(JsonEdit.raw(request.getBytes(UTF_8), "id"))));
  }

  /** Returns the id of the request to the client that asks a question. */
  RequestId id(int question) {
    return RequestId.of(name() + "/" + round + "/" + question);
  }

  /** Returns false if nothing is asked or the state is too large, or while the store is away. */
  boolean save(SessionMemory memory) {
    String json = format();
    return (task != null || !questions.isEmpty()) && fits(json) && memory.save(name(), json);
  }

  /** Saves the state of a task that was not cancelled meanwhile, as {@link #save} does. */
  boolean replace(SessionMemory memory) {
    String json = format();
    return fits(json)
        && changeIfReachable(memory, name(), kept -> kept == null ? null : json) != null;
  }

  private static boolean fits(String json) {
    return json.getBytes(UTF_8).length <= MAX_BYTES;
  }

  /** Finds a state that this or another replica has saved. Waits while the store is away. */
  static Optional<CallState> find(SessionMemory memory, String name) {
    return name.startsWith(PREFIX)
        ? memory.await(name).flatMap(CallState::parse)
        : Optional.empty();
  }

  /**
   * Removes this state, before the call goes on.
   *
   * @return true for one caller of all replicas
   * @throws SessionStoreException while the store is away
   */
  boolean remove(SessionMemory memory) {
    String kept = memory.change(name(), json -> isThis(json) ? null : json);
    return isThis(kept);
  }

  private boolean isThis(@Nullable String json) {
    return json != null && round.equals(round(json));
  }

  private static @Nullable String round(String json) {
    return JsonEdit.text(JsonEdit.raw(json.getBytes(UTF_8), "round"));
  }

  /**
   * Removes the state of a request.
   *
   * @return its task, raw; null for none, and for all callers but one
   */
  static @Nullable String remove(SessionMemory memory, RequestId request) {
    String kept = changeIfReachable(memory, name(request), _ -> null);
    return kept == null ? null : JsonEdit.raw(kept.getBytes(UTF_8), "task");
  }

  /** Keeps the first answer to each question. Ignores answers to other requests. */
  static void keepAnswer(SessionMemory memory, RequestId id, String answer) {
    List<String> parts = List.of(String.valueOf(JsonEdit.text(id.json())).split("/", 3));
    if (parts.size() == 3 && parts.getFirst().startsWith(PREFIX)) {
      String _ =
          changeIfReachable(
              memory,
              parts.getFirst(),
              json ->
                  json != null && parts.get(1).equals(round(json))
                      ? parse(json).map(state -> state.with(id, answer)).orElse(json)
                      : json);
    }
  }

  private static @Nullable String changeIfReachable(
      SessionMemory memory, String name, UnaryOperator<@Nullable String> change) {
    try {
      return memory.change(name, change);
    } catch (SessionStoreException away) {
      return null; // The replica with the call gets the message, too.
    }
  }

  /** Returns the state with an answer. Of one that is too large, only what ends the call. */
  private String with(RequestId id, String answer) {
    List<Question> answered = new ArrayList<>(questions);
    for (int i = 0; i < answered.size(); i++) {
      Question question = answered.get(i);
      if (question.answer() == null && id(i).equals(id)) {
        answered.set(i, new Question(question.key(), question.method(), answer));
      }
    }
    String json =
        new CallState(round, request, rounds, requestState, task, asked, answered).format();
    return fits(json) ? json : new JsonEdit().set(JsonEdit.quote(round), "round").toJson();
  }

  private String format() {
    List<String> each = new ArrayList<>();
    for (Question question : questions) {
      JsonEdit edit =
          new JsonEdit()
              .set(JsonEdit.quote(question.key()), "key")
              .set(JsonEdit.quote(question.method()), "method");
      if (question.answer() != null) {
        edit.set(question.answer(), "answer");
      }
      each.add(edit.toJson());
    }
    JsonEdit edit =
        new JsonEdit()
            .set(JsonEdit.quote(round), "round")
            .set(request, "request")
            .set(Integer.toString(rounds), "rounds")
            .set(
                asked.stream().map(JsonEdit::quote).collect(Collectors.joining(",", "[", "]")),
                "asked")
            .set("[" + String.join(",", each) + "]", "questions");
    if (requestState != null) {
      edit.set(requestState, "requestState");
    }
    if (task != null) {
      edit.set(task, "task");
    }
    return edit.toJson();
  }

  private static Optional<CallState> parse(String json) {
    byte[] bytes = json.getBytes(UTF_8);
    String request = JsonEdit.raw(bytes, "request");
    if (request == null) {
      return Optional.empty();
    }
    List<Question> questions =
        JsonEdit.elements(JsonEdit.raw(bytes, "questions")).stream()
            .map(JsonEdit::members)
            .map(each ->
                new Question(
                    String.valueOf(JsonEdit.text(each.get("key"))),
                    String.valueOf(JsonEdit.text(each.get("method"))),
                    each.get("answer")))
            .toList();
    return Optional.of(
        new CallState(
            String.valueOf(round(json)),
            request,
            Integer.parseInt(Objects.requireNonNullElse(JsonEdit.raw(bytes, "rounds"), "0")),
            JsonEdit.raw(bytes, "requestState"),
            JsonEdit.raw(bytes, "task"),
            JsonEdit.elements(JsonEdit.raw(bytes, "asked")).stream()
                .map(key -> String.valueOf(JsonEdit.text(key)))
                .collect(Collectors.toSet()),
            questions));
  }
}
