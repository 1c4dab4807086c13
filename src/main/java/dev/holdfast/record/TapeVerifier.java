package dev.holdfast.record;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.Message;
import dev.holdfast.record.TapeScript.RequestKey;
import dev.holdfast.record.TapeScript.Step.Exchange;
import dev.holdfast.record.TapeScript.Step.Notify;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Sends the requests of a tape to a server again, one after the other, and compares what the server
 * sends on their streams. Requests of the server get the recorded answers. Ids, times and messages
 * of the standalone stream are not compared.
 */
public final class TapeVerifier {

  private final TapeScript script;
  private final JsonDifferences differences;
  private final Consumer<Difference> onDifference;

  /**
   * A difference between the tape and the server.
   *
   * @param request number of the request on the tape, from 1
   * @param method its method
   * @param tool the tool that it calls; null for none
   * @param place the response, or which message before it
   * @param pointer JSON pointer into the message; empty for the whole message
   * @param recorded the value on the tape; null for none
   * @param live the value of the server; null for none
   */
  public record Difference(
      int request,
      String method,
      @Nullable String tool,
      String place,
      String pointer,
      @Nullable JsonNode recorded,
      @Nullable JsonNode live) {}

  /**
   * Numbers of a comparison.
   *
   * @param requests requests that were sent
   * @param skipped requests that were not sent, because the tape has no response to them
   * @param differences number of differences
   */
  public record Result(int requests, int skipped, int differences) {}

  /**
   * Prepares a comparison.
   *
   * @param ignored JSON pointers of values that may differ; {@code *} stands for any name or index
   * @param onDifference gets each difference when it is found
   */
  public TapeVerifier(Tape tape, List<String> ignored, Consumer<Difference> onDifference) {
    this.script = new TapeScript(tape);
    this.differences = new JsonDifferences(ignored);
    this.onDifference = onDifference;
  }

  /**
   * Opens a session, sends the requests and ends the session.
   *
   * @throws UpstreamException if the server does not open a session, or refuses a notification
   * @throws TapeException if the tape does not begin with an answered {@code initialize}
   */
  public Result run(Upstream upstream) throws TapeException {
    Exchange initialize = script.initialize();
    Run run = new Run();
    Handshake handshake = upstream.initialize(initialize.request());
    List<byte[]> received = new ArrayList<>();
    handshake.before().forEach(message -> received.add(message.payload()));
    received.add(handshake.response());
    run.compare(initialize, received);
    UpstreamLink link = handshake.link();
    if (link != null) {
      UpstreamSession session = upstream.attach(link);
      try {
        run.sendAll(session);
      } finally {
        session.end();
      }
    }
    return new Result(run.sent, run.skipped, run.found);
  }

  private final class Run {
    private int sent;
    private int skipped;
    private int found;
    private @Nullable MessageSource standalone;

    void sendAll(UpstreamSession session) {
      for (TapeScript.Step step : script.steps()) {
        switch (step) {
          case Notify(Message.Notification notification) -> {
            session.send(new Body.Single(notification));
            if (notification.isInitialized()) {
              listen(session);
            }
          }
          case Exchange exchange when exchange.request().isInitialize() -> {}
          case Exchange exchange -> {
            if (exchange.isAnswered()) {
              verify(session, exchange);
            } else {
              skipped++;
            }
          }
        }
      }
      MessageSource listening = standalone;
      if (listening != null) {
        listening.close();
      }
    }

    /** Servers may ask on the standalone stream, too. */
    private void listen(UpstreamSession session) {
      try {
        MessageSource source = session.listen(null).orElse(null);
        if (source != null) {
          standalone = source;
          Thread.ofVirtual()
              .name("verify-standalone")
              .start(() -> {
                try {
                  source.forEach(message -> answer(session, message.payload()));
                } catch (UpstreamException ended) {
                  // Its messages are not compared.
                }
              });
        }
      } catch (UpstreamException notOffered) {
        // The requests do without it.
      }
    }

    /** A request that the server fails differs, and the next one may not. */
    private void verify(UpstreamSession session, Exchange exchange) {
      try {
        compare(exchange, call(session, exchange.request()));
      } catch (UpstreamException failure) {
        sent++;
        JsonNode recorded = TapeJson.withoutId(exchange.messages().getLast().message().bytes());
        compare(
            exchange, "response", recorded, TextNode.valueOf("failed: " + failure.getMessage()));
      }
    }

    private List<byte[]> call(UpstreamSession session, Message.Request request) {
      List<byte[]> received = new ArrayList<>();
      Answer answer = session.request(new Body.Single(request));
      try (MessageSource source = answer.source()) {
        for (List<UpstreamMessage> some = source.take(); !some.isEmpty(); some = source.take()) {
          some.forEach(message -> {
            Envelopes.read(message.payload())
                .messages()
                .forEach(each -> received.add(each.bytes()));
            answer(session, message.payload());
          });
        }
      }
      return received;
    }

    private void answer(UpstreamSession session, byte[] message) {
      for (Message each : Envelopes.read(message).messages()) {
        if (each instanceof Message.Request question) {
          byte[] answer =
              script
                  .answer(RequestKey.of(question))
                  .map(found -> new JsonEdit().set(question.id().json(), "id").apply(found.bytes()))
                  .orElseGet(() ->
                      JsonRpcErrors.error(
                          question.id(),
                          JsonRpcErrorCode.METHOD_NOT_FOUND,
                          "The tape has no answer to this request"));
          session.send(Envelopes.read(answer));
        }
      }
    }

    void compare(Exchange exchange, List<byte[]> received) {
      sent++;
      List<JsonNode> recorded =
          exchange.messages().stream()
              .map(each -> TapeJson.withoutId(each.message().bytes()))
              .toList();
      List<JsonNode> live = received.stream().map(TapeJson::withoutId).toList();
      compare(exchange, "response", last(recorded), last(live));
      for (int i = 0; i < Math.max(recorded.size(), live.size()) - 1; i++) {
        compare(exchange, "message " + (i + 1), before(recorded, i), before(live, i));
      }
    }

    private static @Nullable JsonNode last(List<JsonNode> messages) {
      return messages.isEmpty() ? null : messages.getLast();
    }

    /** The message before the response at an index. */
    private static @Nullable JsonNode before(List<JsonNode> messages, int index) {
      return index < messages.size() - 1 ? messages.get(index) : null;
    }

    private void compare(
        Exchange exchange, String place, @Nullable JsonNode recorded, @Nullable JsonNode live) {
      Message.Request request = exchange.request();
      differences.find(
          recorded,
          live,
          (pointer, was, is) -> {
            found++;
            onDifference.accept(
                new Difference(
                    sent + skipped, request.method(), request.toolName(), place, pointer, was, is));
          });
    }
  }
}
