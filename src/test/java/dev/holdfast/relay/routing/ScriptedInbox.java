package dev.holdfast.relay.routing;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.log.Inbox;
import dev.holdfast.log.LogException;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.protocol.Message;
import dev.holdfast.relay.stream.StreamNames;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** An inbox for tests, which play the other replicas: they read what is put and send messages. */
public final class ScriptedInbox implements Inbox {

  /** The open calls of other replicas. */
  final List<OpenCall> calls = new CopyOnWriteArrayList<>();

  /**
   * The messages that were put, each after the name of the stream, or a star for all other owners.
   */
  final List<String> put = new CopyOnWriteArrayList<>();

  /** Whether the store is away. */
  public volatile boolean away;

  private final Queue<Message> waiting = new ConcurrentLinkedQueue<>();
  private volatile @Nullable Receiver receiver;

  /** Leaves a message from another replica for the next collection. */
  public void leave(StreamRef stream, String message) {
    waiting.add(new Message(List.of(stream), message.getBytes(UTF_8)));
  }

  /** Sends a message from another replica. */
  void bring(StreamRef stream, String message) {
    leave(stream, message);
    collect(stream.key());
  }

  /** Says that a session has ended on another replica. */
  void end(LogKey session) {
    Objects.requireNonNull(receiver).ended(session);
  }

  @Override
  public List<OpenCall> openCalls(LogKey session) {
    return List.copyOf(calls);
  }

  @Override
  public boolean put(StreamRef stream, byte[] message) {
    put.add(stream.name() + " " + new String(message, UTF_8));
    return owned || !stream.name().equals(StreamNames.STANDALONE);
  }

  @Override
  public int putForOthers(LogKey session, byte[] message) {
    put.add("* " + new String(message, UTF_8));
    return 1;
  }

  /** The requests that were put, each after the name of the standalone stream. */
  final List<String> asked = new CopyOnWriteArrayList<>();

  /** Whether the sessions of a test are pinned to other replicas. */
  volatile boolean owned;

  @Override
  public boolean putRequest(
      StreamRef stream,
      String requests,
      String tool,
      @Nullable String into,
      String standalone,
      byte[] message) {
    if (owned) {
      asked.add(standalone + " " + requests + " " + new String(message, UTF_8));
    }
    return owned;
  }

  @Override
  public boolean isOpen(StreamRef stream) {
    return owned;
  }

  /** Sends a request from another replica. */
  void putRequest(StreamWriter writer, String message) {
    waiting.add(new Message(List.of(writer.stream()), message.getBytes(UTF_8), writer));
    collect(writer.stream().key());
  }

  @Override
  public void collect(LogKey session) {
    if (away) {
      throw new LogException.StoreUnavailable("the store is away", null);
    }
    for (Message inboxMessage = waiting.poll();
        inboxMessage != null;
        inboxMessage = waiting.poll()) {
      Objects.requireNonNull(receiver).receive(inboxMessage);
    }
  }

  @Override
  public void setReceiver(Receiver one) {
    receiver = one;
  }
}
