package dev.holdfast.merge;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.lock.AutoLock;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.retry.Backoff;
import dev.holdfast.session.SessionStoreException;
import dev.holdfast.upstream.MessageQueue;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamMessage;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The standalone streams of a session's servers, as one. The id of an event names the last event of
 * each server, so that all of them can be resumed. Thread-safe.
 */
final class StandaloneStreams {

  private final MemberSessions members;
  private final UpstreamLink merged;
  private final BiConsumer<String, UpstreamMessage> onMessage;
  private final MessageQueue queue;
  private final MessageQueue.Writer writer;

  /** Held while a message is written. */
  private final AutoLock order = new AutoLock();

  /** The server's id of the last event of each server. Guarded by the order. */
  private final Map<String, String> lastIds = new TreeMap<>();

  private final AutoLock lock = new AutoLock();

  /** By server. Guarded by the lock. */
  private final Map<String, Reader> readers = new HashMap<>();

  private volatile String kind = "";
  private volatile boolean closed;

  /**
   * Begins without servers.
   *
   * @param after id of the last event before; null for none
   * @param onMessage gets each message before the client does, with the name of its server
   */
  StandaloneStreams(
      MemberSessions members,
      UpstreamLink merged,
      @Nullable String after,
      BiConsumer<String, UpstreamMessage> onMessage,
      ByteBudget budget) {
    this.members = members;
    this.merged = merged;
    this.onMessage = onMessage;
    this.queue = new MessageQueue(budget);
    this.writer = queue.newWriter(_ -> {});
    JsonEdit.members(after)
        .forEach((member, id) -> {
          String text = JsonEdit.text(id);
          if (text != null) {
            lastIds.put(member, text);
          }
        });
  }

  /** Listens to all servers with which the session has a session now. */
  void listen() {
    Set<String> open = members.open(merged).keySet();
    try (var _ = lock.hold()) {
      if (!closed) {
        open.forEach(member -> readers.computeIfAbsent(member, this::start));
      }
    }
  }

  /** Listens to a server whose session has begun. Waits until the server can send its messages. */
  void listenTo(String member) {
    listen();
    Reader reader;
    try (var _ = lock.hold()) {
      reader = readers.get(member);
    }
    if (reader != null) {
      reader.awaitConnection();
    }
  }

  private Reader start(String member) {
    Reader reader = new Reader(member);
    reader.thread = Thread.ofVirtual().name("standalone").start(reader);
    return reader;
  }

  /** Reads the stream of a server. */
  private final class Reader implements Runnable {

    private final String member;

    /** Completes when the server has answered. */
    private final CompletableFuture<Boolean> connected = new CompletableFuture<>();

    /** Guarded by the lock. */
    private @Nullable Thread thread;

    Reader(String member) {
      this.member = member;
    }

    @Override
    public void run() {
      Backoff backoff = Backoff.UPSTREAM;
      try {
        while (readOnce()) {
          Thread.sleep(backoff.delay());
          backoff = backoff.next();
        }
      } catch (InterruptedException stop) {
        Thread.currentThread().interrupt();
      } finally {
        connected.complete(false);
        try (var _ = lock.hold()) {
          boolean _ = readers.remove(member, this);
        }
      }
    }

    /** Reads the stream until it ends; returns false if the server has none for this session. */
    private boolean readOnce() {
      try {
        UpstreamLink link = members.open(merged).get(member);
        if (closed || link == null) {
          return false;
        }
        Optional<MessageSource> found = members.attach(merged, member, link).listen(lastId(member));
        connected.complete(true);
        if (found.isEmpty()) {
          return false;
        }
        try (MessageSource source = found.get()) {
          source.forEach(message -> write(member, message));
        }
        return !closed;
      } catch (UpstreamException.SessionGone gone) {
        return false; // The next request to the server opens another session.
      } catch (UpstreamException | SessionStoreException away) {
        return !closed;
      }
    }

    void awaitConnection() {
      boolean _ = connected.completeOnTimeout(false, 2, TimeUnit.SECONDS).join();
    }

    void stop() {
      if (thread != null) {
        thread.interrupt();
      }
    }
  }

  private @Nullable String lastId(String member) {
    try (var _ = order.hold()) {
      return lastIds.get(member);
    }
  }

  /** The order of messages is that of their ids. */
  private void write(String member, UpstreamMessage message) {
    onMessage.accept(member, message);
    try (var _ = order.hold()) {
      String id = null;
      if (message.eventId() != null) {
        lastIds.put(member, message.eventId());
        JsonEdit all = new JsonEdit();
        lastIds.forEach((each, last) -> all.set(JsonEdit.quote(last), each));
        id = all.toJson();
      }
      boolean _ = writer.write(MemberIds.toClient(member, message, id));
    }
  }

  /** The kind of the client, as the {@link Catalog} has it; empty before its first request. */
  String kind() {
    return kind;
  }

  void kind(String known) {
    kind = known;
  }

  /** Adds a message of the gateway unless the client is too slow. */
  void tell(byte[] message) {
    boolean _ = writer.offer(message);
  }

  /** The messages of all servers. */
  MessageSource source(Runnable onClose) {
    return new MessageQueue.Source(
        queue,
        () -> {
          close();
          onClose.run();
        });
  }

  /** Stops listening. Idempotent. */
  void close() {
    var _ = queue.close();
    try (var _ = lock.hold()) {
      closed = true;
      readers.values().forEach(Reader::stop);
    }
  }
}
