package dev.holdfast.upstream;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Opener;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** An upstream whose operations are observed, from their begin to the end of their answers. */
public abstract class ObservedUpstream extends ForwardingUpstream {

  /** What an upstream is asked for. */
  protected enum Kind {
    INITIALIZE,
    REOPEN,
    REQUEST,
    SEND,
    LISTEN,
    RESUME
  }

  /** An operation that is observed. Its answer may be read on several threads, in turn. */
  protected interface Operation {

    /** Observes nothing. */
    Operation NONE = () -> {};

    /** Runs a part: the request, or a wait for messages of the answer. */
    default <T> T run(Supplier<T> part) {
      return part.get();
    }

    /** Takes the messages that have arrived. */
    default List<UpstreamMessage> takeArrived(MessageSource answer) {
      return answer.takeArrived();
    }

    /** The operation has failed, or its answer is complete. May be called again. */
    void end();
  }

  /** Observes an upstream. */
  protected ObservedUpstream(Upstream upstream) {
    super(upstream);
  }

  /**
   * Begins an operation.
   *
   * @param body what the upstream gets; null for operations without
   */
  protected abstract Operation begin(Kind kind, @Nullable Body body);

  private <T> T observe(Kind kind, @Nullable Body body, Supplier<T> work) {
    Operation operation = begin(kind, body);
    T result = run(operation, work);
    operation.end();
    return result;
  }

  private static <T> T run(Operation operation, Supplier<T> part) {
    try {
      return operation.run(part);
    } catch (RuntimeException | Error failure) {
      operation.end();
      throw failure;
    }
  }

  @Override
  public Handshake initialize(Message.Request initialize, Opener opener) {
    return observe(
        Kind.INITIALIZE,
        new Body.Single(initialize),
        () -> upstream.initialize(initialize, opener));
  }

  @Override
  public UpstreamSession attach(UpstreamLink link) {
    return new Session(upstream.attach(link));
  }

  @Override
  public void reopen(UpstreamLink link, Message.Request initialize, boolean initialized) {
    observe(
        Kind.REOPEN,
        null,
        () -> {
          upstream.reopen(link, initialize, initialized);
          return true;
        });
  }

  private final class Session implements UpstreamSession {

    private final UpstreamSession session;

    Session(UpstreamSession session) {
      this.session = session;
    }

    @Override
    public Answer request(Body requests) {
      Operation operation = begin(Kind.REQUEST, requests);
      Answer answer = run(operation, () -> session.request(requests));
      if (answer instanceof Answer.Stream(MessageSource source)) {
        return new Answer.Stream(new Source(source, operation));
      }
      operation.end();
      return answer;
    }

    @Override
    public void send(Body messages) {
      observe(
          Kind.SEND,
          messages,
          () -> {
            session.send(messages);
            return true;
          });
    }

    @Override
    public Optional<MessageSource> listen(@Nullable String after) {
      Operation operation = begin(Kind.LISTEN, null);
      return run(operation, () -> session.listen(after))
          .map(source -> new Source(source, operation));
    }

    @Override
    public MessageSource resume(String eventId) {
      Operation operation = begin(Kind.RESUME, null);
      return new Source(run(operation, () -> session.resume(eventId)), operation);
    }

    @Override
    public void end() {
      session.end();
    }
  }

  private static final class Source extends ForwardingSource {

    private final Operation operation;

    Source(MessageSource source, Operation operation) {
      super(source);
      this.operation = operation;
    }

    @Override
    public List<UpstreamMessage> take() {
      return run(operation, source::take);
    }

    @Override
    public List<UpstreamMessage> takeArrived() {
      return operation.takeArrived(source);
    }

    @Override
    public void close() {
      super.close();
      operation.end();
    }
  }
}
