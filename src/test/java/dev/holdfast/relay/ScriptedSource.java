package dev.holdfast.relay;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Stream;

/** A source that brings, breaks and ends when a test says so. */
public final class ScriptedSource implements MessageSource {

  /** What one call of {@link #take} comes to. */
  private sealed interface Step {
    record Messages(List<UpstreamMessage> messages) implements Step {}

    record Failure(Throwable failure) implements Step {}
  }

  private final BlockingQueue<Step> steps = new LinkedBlockingQueue<>();
  private volatile boolean closed;

  /** Brings messages, all in one take. */
  public ScriptedSource bring(String... messages) {
    steps.add(
        new Step.Messages(
            Stream.of(messages)
                .map(message -> new UpstreamMessage(message.getBytes(UTF_8), null))
                .toList()));
    return this;
  }

  /** Brings a message that may have an id. */
  public ScriptedSource bring(UpstreamMessage message) {
    steps.add(new Step.Messages(List.of(message)));
    return this;
  }

  /** Fails; for what no {@link UpstreamException} foresees, too. */
  public ScriptedSource fail(Throwable failure) {
    steps.add(new Step.Failure(failure));
    return this;
  }

  /** Comes to its end. */
  public ScriptedSource end() {
    steps.add(new Step.Messages(List.of()));
    return this;
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
  public void close() {
    closed = true;
    steps.add(new Step.Messages(List.of()));
  }
}
