package dev.holdfast.upstream;

import dev.holdfast.call.Caller;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Message;
import dev.holdfast.upstream.UpstreamObserver.Kind;
import dev.holdfast.upstream.UpstreamObserver.Operation;
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
    Operation[] all = new Operation[observers.size()];
    for (int i = 0; i < all.length; i++) {
      all[i] = observers.get(i).begin(kind, link, body);
    }
    return new Operations(all);
  }

  /** An operation, as each observer sees it. */
  private static final class Operations {

    private final Operation[] all;

    Operations(Operation[] all) {
      this.all = all;
    }

    <T> T run(Supplier<T> part) {
      for (Operation operation : all) {
        operation.enter();
      }
      try {
        return part.get();
      } catch (RuntimeException failure) {
        for (Operation operation : all) {
          operation.failed(failure);
        }
        end();
        throw failure;
      } catch (Error failure) {
        end();
        throw failure;
      } finally {
        for (Operation operation : all) {
          operation.leave();
        }
      }
    }

    /** Runs the first part, whose answer begins without messages. */
    <T> T begin(Supplier<T> part) {
      T answer = run(part);
      answered(List.of());
      return answer;
    }

    /** Runs an operation without an answer. */
    void runAll(Runnable work) {
      boolean _ =
          begin(() -> {
            work.run();
            return true;
          });
      end();
    }

    void answered(List<UpstreamMessage> messages) {
      for (Operation operation : all) {
        operation.answered(messages);
      }
    }

    void opened(Handshake handshake) {
      for (Operation operation : all) {
        operation.opened(handshake);
      }
      end();
    }

    void end() {
      for (Operation operation : all) {
        operation.end();
      }
    }
  }

  @Override
  public Handshake initialize(Message.Request initialize, Caller opener) {
    Operations operations = begin(Kind.INITIALIZE, null, new Body.Single(initialize));
    Handshake handshake = operations.begin(() -> upstream.initialize(initialize, opener));
    operations.opened(handshake);
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
      return switch (operations.begin(() -> session.request(requests))) {
        case Answer.Json json -> {
          operations.answered(List.of(json.message()));
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
          .begin(() -> session.listen(after))
          .map(source -> new Source(source, operations));
    }

    @Override
    public MessageSource resume(String eventId) {
      Operations operations = begin(Kind.RESUME, link, null);
      return new Source(operations.begin(() -> session.resume(eventId)), operations);
    }

    @Override
    public void prepareEnd() {
      session.prepareEnd();
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
      operations.answered(taken);
      return taken;
    }

    @Override
    public List<UpstreamMessage> takeArrived() {
      List<UpstreamMessage> arrived = source.takeArrived();
      if (!arrived.isEmpty()) {
        operations.answered(arrived);
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
