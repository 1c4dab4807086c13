package dev.holdfast.relay;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A source that brings, breaks and ends when a test says so. */
public final class ScriptedSource implements MessageSource {

  /** What one call of {@link #take} comes to. */
  private sealed interface Step {
    record Messages(List<UpstreamMessage> messages) implements Step {}

    record Failure(Throwable failure) implements Step {}
  }

  private final BlockingQueue<Step> steps = new LinkedBlockingQueue<>();
  private final AtomicReference<@Nullable Runnable> whenArrived = new AtomicReference<>();
  private volatile boolean closed;
  private volatile boolean tells;

  /** Tells its reader when messages arrive, on the thread that brings them. */
  public ScriptedSource telling() {
    tells = true;
    return this;
  }

  private ScriptedSource add(Step step) {
    steps.add(step);
    Runnable action = whenArrived.getAndSet(null);
    if (action != null) {
      action.run();
    }
    return this;
  }

  /** Brings messages, all in one take. */
  public ScriptedSource bring(String... messages) {
    return add(
        new Step.Messages(
            Stream.of(messages)
                .map(message -> new UpstreamMessage(message.getBytes(UTF_8), null))
                .toList()));
  }

  /** Brings a message that may have an id. */
  public ScriptedSource bring(UpstreamMessage message) {
    return add(new Step.Messages(List.of(message)));
  }

  /** Fails; for what no {@link UpstreamException} foresees, too. */
  public ScriptedSource fail(Throwable failure) {
    return add(new Step.Failure(failure));
  }

  /** Comes to its end. */
  public ScriptedSource end() {
    return add(new Step.Messages(List.of()));
  }

  public boolean isClosed() {
    return closed;
  }

  @Override
  public List<UpstreamMessage> take() {
    try {
      return closed
          ? List.of()
          : switch (steps.take()) {
            case Step.Messages(List<UpstreamMessage> messages) -> messages;
            case Step.Failure(Error failure) -> throw failure;
            case Step.Failure(Throwable failure) -> throw (RuntimeException) failure;
          };
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public List<UpstreamMessage> takeArrived() {
    return steps.peek() instanceof Step.Messages(List<UpstreamMessage> messages)
            && !messages.isEmpty()
            && steps.poll() != null
        ? messages
        : List.of();
  }

  /** For tests that bring messages on one thread only. */
  @Override
  public boolean whenArrived(Runnable action) {
    if (!tells) {
      return false;
    }
    whenArrived.set(action);
    return steps.isEmpty() || !whenArrived.compareAndSet(action, null);
  }

  @Override
  public void close() {
    closed = true;
    var _ = add(new Step.Messages(List.of()));
  }
}
