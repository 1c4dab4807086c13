package dev.holdfast.record;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.record.TapeEntry.Sender;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The session on a tape: what the client sent, and how the server reacted. */
final class TapeScript {

  /**
   * A message of the server.
   *
   * @param after number of the client's requests before it
   * @param afterTime time of the last one of them
   */
  record Timed(Instant time, Message message, int after, Instant afterTime) {}

  /** Messages of the client, apart from answers and cancellations. */
  sealed interface Step {

    record Notify(Message.Notification notification) implements Step {}

    /** A request with the server's messages on its stream. The response, if any, is the last. */
    record Exchange(Instant time, Message.Request request, RequestKey key, List<Timed> messages)
        implements Step {

      boolean isAnswered() {
        return !messages.isEmpty() && messages.getLast().message() instanceof Message.Response;
      }
    }
  }

  /**
   * The method and its parameters, which make two requests the same. The id differs, and so does
   * {@code params._meta} with its progress token. Those of {@code initialize} do not count: any
   * client may open a session.
   */
  record RequestKey(String method, JsonNode params) {

    static RequestKey of(Message.Request request) {
      JsonNode params = MissingNode.getInstance();
      if (!request.isInitialize()) {
        params = TapeJson.tree(request.bytes()).path("params");
        if (params instanceof ObjectNode object) {
          object.remove("_meta");
          if (object.isEmpty()) {
            params = MissingNode.getInstance();
          }
        }
      }
      return new RequestKey(request.method(), params);
    }
  }

  private final List<Step> steps = new ArrayList<>();
  private final Map<RequestKey, List<Step.Exchange>> exchanges = new HashMap<>();
  private final Map<String, List<Step.Exchange>> byStream = new HashMap<>();
  private final List<Timed> standalone = new ArrayList<>();
  private final Map<RequestId, RequestKey> questions = new HashMap<>();
  private final Map<RequestId, Instant> answerTimes = new HashMap<>();
  private final Map<RequestKey, Message.Response> answers = new HashMap<>();
  private final Set<RequestId> cancelled = new HashSet<>();
  private int requests;
  private Instant lastRequest;

  TapeScript(Tape tape) {
    lastRequest = tape.entries().isEmpty() ? Instant.EPOCH : tape.entries().getFirst().time();
    for (TapeEntry entry : tape.entries()) {
      if (entry instanceof TapeEntry.Sent sent) {
        for (Message message : sent.body().messages()) {
          if (sent.from() == Sender.CLIENT) {
            addFromClient(sent, message);
          } else {
            addFromServer(sent, message);
          }
        }
      }
    }
  }

  private void addFromClient(TapeEntry.Sent sent, Message message) {
    switch (message) {
      case Message.Request request -> {
        requests++;
        lastRequest = sent.time();
        Step.Exchange exchange =
            new Step.Exchange(sent.time(), request, RequestKey.of(request), new ArrayList<>());
        steps.add(exchange);
        exchanges.computeIfAbsent(exchange.key(), _ -> new ArrayList<>()).add(exchange);
        byStream
            .computeIfAbsent(String.valueOf(sent.stream()), _ -> new ArrayList<>())
            .add(exchange);
      }
      case Message.Notification notification -> {
        RequestId id = notification.cancelledRequestId();
        if (id == null) {
          steps.add(new Step.Notify(notification));
        } else {
          cancelled.add(id);
        }
      }
      case Message.Response response -> {
        RequestId id = response.id();
        RequestKey question = id == null ? null : questions.get(id);
        if (id != null && question != null) {
          answerTimes.put(id, sent.time());
          answers.putIfAbsent(question, response);
        }
      }
    }
  }

  private void addFromServer(TapeEntry.Sent sent, Message message) {
    if (message instanceof Message.Request question) {
      questions.put(question.id(), RequestKey.of(question));
    }
    List<Step.Exchange> stream = byStream.getOrDefault(String.valueOf(sent.stream()), List.of());
    Timed timed = new Timed(sent.time(), message, requests, lastRequest);
    if (!(message instanceof Message.Response response)) {
      (stream.isEmpty() ? standalone : stream.getFirst().messages()).add(timed);
      return;
    }
    stream.stream()
        .filter(exchange -> exchange.request().id().equals(response.id()))
        .findFirst()
        .ifPresent(exchange -> exchange.messages().add(timed));
  }

  /**
   * The request that opened the session.
   *
   * @throws TapeException if the tape does not begin with it, or has no response to it
   */
  Step.Exchange initialize() throws TapeException {
    if (!steps.isEmpty()
        && steps.getFirst() instanceof Step.Exchange first
        && first.request().isInitialize()
        && first.isAnswered()) {
      return first;
    }
    throw new TapeException("the tape does not begin with an answered initialize request", null);
  }

  /** The client's requests and notifications, in their order. */
  List<Step> steps() {
    return steps;
  }

  /** The recorded requests that equal a request, in their order. */
  List<Step.Exchange> exchanges(RequestKey key) {
    return exchanges.getOrDefault(key, List.of());
  }

  /** The server's messages that belong to no request on the tape. */
  List<Timed> standalone() {
    return standalone;
  }

  /** Returns when the client answered a request of the server; null if it did not. */
  @Nullable Instant answerTime(RequestId question) {
    return answerTimes.get(question);
  }

  /** The client's first answer to such a request of the server. */
  Optional<Message.Response> answer(RequestKey question) {
    return Optional.ofNullable(answers.get(question));
  }

  boolean isCancelled(RequestId request) {
    return cancelled.contains(request);
  }
}
