package dev.holdfast.intercept;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.call.Caller;
import dev.holdfast.intercept.InterceptedMessage.Direction;
import dev.holdfast.intercept.InterceptorChain.Outcome;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.ForwardingSource;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/** A session whose messages pass a chain of interceptors, both ways. */
record InterceptedSession(
    InterceptorChain chain, @Nullable String id, Caller sender, UpstreamSession server)
    implements UpstreamSession {

  private static final Logger LOG = Logger.getLogger(InterceptedSession.class);

  @Override
  public Answer request(Body requests) {
    Judged judged = judge(requests, Direction.TO_SERVER, Map.of());
    Body left = judged.body();
    Map<RequestId, Message.Request> sent = judged.requests();
    if (sent.isEmpty()) {
      if (left != null) {
        server.send(left);
      }
      return Answer.of(judged.errors());
    }
    ByteBudget.Claim kept = chain.keep(sent.values());
    try {
      Answer answer = server.request(Objects.requireNonNull(left));
      if (!(answer instanceof Answer.Json document) || !judged.errors().isEmpty()) {
        return new Answer.Stream(new Source(this, answer.source(), sent, judged.errors(), kept));
      }
      document.release().run();
      byte[] passed = toClient(document.json(), sent);
      kept.close();
      return passed == null
          ? new Answer.Stream(MessageSource.of(List.of()))
          : new Answer.Json(passed);
    } catch (Throwable failure) {
      kept.close();
      throw failure;
    }
  }

  @Override
  public void send(Body messages) {
    Body left = judge(messages, Direction.TO_SERVER, Map.of()).body();
    if (left != null) {
      server.send(left);
    }
  }

  /**
   * The rest of a body.
   *
   * @param body what its receiver gets; null for nothing
   * @param errors the responses to refused requests, for their sender
   */
  private record Judged(@Nullable Body body, List<byte[]> errors) {

    Map<RequestId, Message.Request> requests() {
      Map<RequestId, Message.Request> requests = new HashMap<>();
      for (Message message : body == null ? List.<Message>of() : body.messages()) {
        if (message instanceof Message.Request request) {
          requests.put(request.id(), request);
        }
      }
      return requests;
    }
  }

  /**
   * Asks the chain about each message of a body.
   *
   * @param requests the requests of the client that responses answer
   */
  private Judged judge(Body body, Direction direction, Map<RequestId, Message.Request> requests) {
    List<Message> left = new ArrayList<>();
    List<byte[]> errors = new ArrayList<>();
    for (Message message : body.messages()) {
      Message.Request request =
          message instanceof Message.Response response && response.id() != null
              ? requests.get(response.id())
              : null;
      Outcome outcome = chain.judge(message, direction, id, sender, request);
      if (outcome.message() != null) {
        left.add(outcome.message());
      } else if (message instanceof Message.Response) {
        // Its receiver waits for it.
        left.addAll(Envelopes.read(outcome.error()).messages());
      } else if (message instanceof Message.Request) {
        errors.add(outcome.error());
      }
    }
    return new Judged(left.equals(body.messages()) ? body : join(body, left), errors);
  }

  private static @Nullable Body join(Body body, List<Message> messages) {
    if (messages.isEmpty()) {
      return null;
    }
    if (body instanceof Body.Single) {
      return new Body.Single(messages.getFirst());
    }
    String array =
        messages.stream()
            .map(message -> new String(message.bytes(), UTF_8))
            .collect(Collectors.joining(",", "[", "]"));
    return new Body.Batch(messages, array.getBytes(UTF_8));
  }

  /**
   * Returns what the client gets of a message or a batch; null for nothing. What is no JSON-RPC
   * message is left to the pump, which refuses it.
   */
  private byte @Nullable [] toClient(byte[] json, Map<RequestId, Message.Request> requests) {
    Body body;
    try {
      body = Envelopes.read(json);
    } catch (EnvelopeException invalid) {
      return json;
    }
    Judged judged = judge(body, Direction.TO_CLIENT, requests);
    judged.errors().forEach(this::refuse);
    return judged.body() == null ? null : judged.body().bytes();
  }

  /** A server that cannot be reached gets no answer; its stream goes on. */
  private void refuse(byte[] error) {
    try {
      server.send(Envelopes.read(error));
    } catch (UpstreamException failure) {
      LOG.debugf("a refused request is not answered: %s", failure.getMessage());
    }
  }

  /** Returns what the client gets of messages that have arrived. */
  List<UpstreamMessage> judge(List<UpstreamMessage> messages) {
    List<UpstreamMessage> left = new ArrayList<>();
    unasked(MessageSource.of(messages)).forEach(left::add);
    return left;
  }

  @Override
  public Optional<MessageSource> listen(@Nullable String after) {
    return server.listen(after).map(this::unasked);
  }

  @Override
  public MessageSource resume(String eventId) {
    return unasked(server.resume(eventId));
  }

  /** Messages that answer no known request. */
  private Source unasked(MessageSource source) {
    return new Source(this, source, Map.of(), List.of(), chain.keep(List.of()));
  }

  @Override
  public void prepareEnd() {
    server.prepareEnd();
  }

  @Override
  public void end() {
    server.end();
  }

  /** The messages of a server that the interceptors let through. For one reading thread. */
  private static final class Source extends ForwardingSource {

    private final InterceptedSession session;
    private final Map<RequestId, Message.Request> requests;
    private final ByteBudget.Claim kept;

    /** Responses to refused requests, which come first. */
    private List<UpstreamMessage> first;

    private Consumer<String> onIdWithoutMessage = _ -> {};

    /** Id of a dropped message after the last one that was taken. */
    private @Nullable String dropped;

    Source(
        InterceptedSession session,
        MessageSource source,
        Map<RequestId, Message.Request> requests,
        List<byte[]> errors,
        ByteBudget.Claim kept) {
      super(source);
      this.session = session;
      this.requests = requests;
      this.kept = kept;
      this.first = errors.stream().map(error -> new UpstreamMessage(error, null)).toList();
    }

    @Override
    public List<UpstreamMessage> take() {
      reportDropped();
      List<UpstreamMessage> left = first;
      first = List.of();
      while (left.isEmpty()) {
        List<UpstreamMessage> taken = source.take();
        if (taken.isEmpty()) {
          return taken;
        }
        left = taken.stream().map(this::judge).flatMap(Optional::stream).toList();
        if (left.isEmpty()) {
          reportDropped();
        }
      }
      return left;
    }

    @Override
    public boolean whenArrived(Runnable action) {
      reportDropped();
      return first.isEmpty() && super.whenArrived(action);
    }

    /** Only now, because the reader has logged the messages that came before. */
    private void reportDropped() {
      if (dropped != null) {
        onIdWithoutMessage.accept(dropped);
        dropped = null;
      }
    }

    /** The stream can be resumed after a message that is dropped, too. */
    private Optional<UpstreamMessage> judge(UpstreamMessage message) {
      byte[] passed = session.toClient(message.payload(), requests);
      String eventId = message.eventId();
      if (eventId != null) {
        dropped = passed == null ? eventId : null;
      }
      if (Arrays.equals(passed, message.payload())) {
        return Optional.of(message);
      }
      return Optional.ofNullable(passed).map(json -> new UpstreamMessage(json, eventId));
    }

    @Override
    public void onIdWithoutMessage(Consumer<String> listener) {
      onIdWithoutMessage = listener;
      super.onIdWithoutMessage(listener);
    }

    @Override
    public void close() {
      super.close();
      kept.close();
    }
  }
}
