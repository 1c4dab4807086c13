package dev.holdfast.upstream;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Opener;
import dev.holdfast.upstream.UpstreamObserver.Kind;
import dev.holdfast.upstream.UpstreamObserver.Operation;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** An upstream whose operations are observed, from their begin to the end of their answers. */
public final class ObservedUpstream extends ForwardingUpstream {

  private final List<UpstreamObserver> observers;

  private ObservedUpstream(Upstream upstream, List<UpstreamObserver> observers) {
    super(upstream);
    this.observers = List.copyOf(observers);
  }

  /** Returns the upstream with its observers; the upstream itself if there are none. */
  public static Upstream of(Upstream upstream, List<UpstreamObserver> observers) {
    return observers.isEmpty() ? upstream : new ObservedUpstream(upstream, observers);
  }

  private Operations begin(Kind kind, @Nullable UpstreamLink link, @Nullable Body body) {
    List<Operation> operations = new ArrayList<>(observers.size());
    for (UpstreamObserver observer : observers) {
      Operation operation = observer.begin(kind, link, body);
      if (!operation.equals(Operation.NONE)) {
        operations.add(operation);
      }
    }
    return new Operations(operations);
  }

  /** An operation, as each observer sees it. */
  private record Operations(List<Operation> all) {

    <T> T run(Supplier<T> part) {
      all.forEach(Operation::enter);
      try {
        T result = part.get();
        all.forEach(Operation::succeeded);
        return result;
      } catch (RuntimeException failure) {
        all.forEach(operation -> operation.failed(failure));
        end();
        throw failure;
      } catch (Error failure) {
        end();
        throw failure;
      } finally {
        all.forEach(Operation::leave);
      }
    }

    /** Runs an operation without an answer. */
    void runAll(Runnable work) {
      boolean _ =
          run(() -> {
            work.run();
            return true;
          });
      end();
    }

    void received(List<UpstreamMessage> messages) {
      for (Operation operation : all) {
        operation.received(messages);
      }
    }

    void end() {
      all.forEach(Operation::end);
    }
  }

  @Override
  public Handshake initialize(Message.Request initialize, Opener opener) {
    Operations operations = begin(Kind.INITIALIZE, null, new Body.Single(initialize));
    Handshake handshake = operations.run(() -> upstream.initialize(initialize, opener));
    operations.all().forEach(operation -> operation.opened(handshake));
    operations.end();
    return handshake;
  }

  @Override
  public UpstreamSession attach(UpstreamLink link) {
    return new Session(upstream.attach(link), link);
  }

  @Override
  public void reopen(UpstreamLink link, Message.Request initialize, boolean initialized) {
    begin(Kind.REOPEN, link, null).runAll(() -> upstream.reopen(link, initialize, initialized));
  }

  private final class Session implements UpstreamSession {

    private final UpstreamSession session;
    private final UpstreamLink link;

    Session(UpstreamSession session, UpstreamLink link) {
      this.session = session;
      this.link = link;
    }

    @Override
    public Answer request(Body requests) {
      Operations operations = begin(Kind.REQUEST, link, requests);
      return switch (operations.run(() -> session.request(requests))) {
        case Answer.Json json -> {
          operations.received(List.of(json.message()));
          operations.end();
          yield json;
        }
        case Answer.Stream(MessageSource source) ->
            new Answer.Stream(new Source(source, operations));
      };
    }

    @Override
    public void send(Body messages) {
      begin(Kind.SEND, link, messages).runAll(() -> session.send(messages));
    }

    @Override
    public Optional<MessageSource> listen(@Nullable String after) {
      Operations operations = begin(Kind.LISTEN, link, null);
      return operations
          .run(() -> session.listen(after))
          .map(source -> new Source(source, operations));
    }

    @Override
    public MessageSource resume(String eventId) {
      Operations operations = begin(Kind.RESUME, link, null);
      return new Source(operations.run(() -> session.resume(eventId)), operations);
    }

    @Override
    public void end() {
      begin(Kind.END, link, null).runAll(session::end);
    }
  }

  private static final class Source extends ForwardingSource {

    private final Operations operations;

    Source(MessageSource source, Operations operations) {
      super(source);
      this.operations = operations;
    }

    @Override
    public List<UpstreamMessage> take() {
      List<UpstreamMessage> taken = operations.run(source::take);
      operations.received(taken);
      return taken;
    }

    @Override
    public List<UpstreamMessage> takeArrived() {
      List<UpstreamMessage> arrived = source.takeArrived();
      if (!arrived.isEmpty()) {
        operations.received(arrived);
      }
      return arrived;
    }

    @Override
    public void close() {
      super.close();
      operations.end();
    }
  }
}
