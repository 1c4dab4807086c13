package dev.holdfast.log.redis;

import dev.holdfast.log.Inbox;
import dev.holdfast.log.LogException;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.log.redis.script.StreamOwner;
import dev.holdfast.log.redis.write.OwnedStreams;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Inboxes as Redis Streams, one for each session with messages. The field {@code s} of an entry has
 * the names of the addressed streams, and {@code d} has the message. If the message opened its
 * stream, the field {@code o} has the owner of that stream.
 *
 * <p>Collecting is a loop: each round removes the messages that were received and gets the next
 * ones. So neither a lost reply nor a lost replica loses a message.
 */
final class RedisInbox implements Inbox {

  private static final Logger LOG = Logger.getLogger(RedisInbox.class);
  private static final Duration RETRY_AFTER = Duration.ofSeconds(1);
  private static final int LOCKS = 64;

  private final InboxScripts scripts;
  private final OwnedStreams owned;

  /** The lock of a session is held while its inbox is collected, to keep the messages in order. */
  private final List<ReentrantLock> locks =
      Stream.generate(ReentrantLock::new).limit(LOCKS).toList();

  /** By session: received messages that may still be in the inbox. Guarded by the lock. */
  private final Map<LogKey, List<InboxScripts.Received>> received = new ConcurrentHashMap<>();

  /** Sessions that a thread is about to collect. */
  private final Set<LogKey> announced = ConcurrentHashMap.newKeySet();

  private final AtomicLong searches = new AtomicLong();
  private volatile @Nullable Receiver receiver;
  private volatile boolean closed;

  RedisInbox(InboxScripts scripts, OwnedStreams owned) {
    this.scripts = scripts;
    this.owned = owned;
  }

  @Override
  public List<OpenCall> openCalls(LogKey session) {
    return scripts.openCalls(session);
  }

  @Override
  public boolean put(StreamRef stream, byte[] message) {
    return scripts.put(stream.key(), stream.name(), message) > 0;
  }

  @Override
  public int putForOthers(LogKey session, byte[] message) {
    return scripts.put(session, "", message);
  }

  @Override
  public boolean putRequest(
      StreamRef stream,
      String requests,
      @Nullable String sharedStream,
      String ownedStream,
      byte[] message) {
    return scripts.openRemote(
        stream, StreamOwner.newFence(), requests, sharedStream, ownedStream, message);
  }

  @Override
  public boolean isOpen(StreamRef stream) {
    return scripts.isOpen(stream);
  }

  @Override
  public void setReceiver(Receiver newReceiver) {
    receiver = newReceiver;
  }

  @Override
  public void collect(LogKey session) {
    Receiver to = receiver;
    if (to == null) {
      return;
    }
    ReentrantLock lock = locks.get(Math.floorMod(session.hashCode(), LOCKS));
    lock.lock();
    try {
      while (collectPage(session, to)) {}
    } finally {
      lock.unlock();
    }
  }

  private boolean collectPage(LogKey session, Receiver to) {
    List<InboxScripts.Entry> page =
        scripts.collect(session, received.getOrDefault(session, List.of()));
    received.remove(session);
    List<InboxScripts.Received> now = new ArrayList<>();
    try {
      for (InboxScripts.Entry entry : page) {
        deliver(withWriter(entry), to);
        now.add(entry.received());
      }
    } finally {
      if (!now.isEmpty()) {
        received.put(session, now);
      }
    }
    return !page.isEmpty();
  }

  private Message withWriter(InboxScripts.Entry entry) {
    Message message = entry.message();
    String owner = entry.owner();
    if (owner == null) {
      return message;
    }
    StreamWriter writer =
        owned.add(message.streams().getFirst(), owner, Position.START, entry.keptIn());
    return new Message(message.streams(), message.message(), writer);
  }

  private static void deliver(Message message, Receiver to) {
    try {
      to.receive(message);
    } catch (LogException.StoreUnavailable notNow) {
      throw notNow;
    } catch (RuntimeException unexpected) {
      // The message would fail again and block the messages behind it.
      LOG.error("inbox message dropped, the receiver could not handle it", unexpected);
    }
  }

  /** Starts to collect an inbox for which a message was announced. */
  void announce(LogKey session) {
    if (announced.add(session)) {
      startRetrying("inbox-collector", () -> collectAnnounced(session));
    }
  }

  private boolean collectAnnounced(LogKey session) {
    // Remove first: a message that arrives after the collection is announced again.
    announced.remove(session);
    try {
      collect(session);
      return true;
    } catch (LogException.StoreUnavailable unavailable) {
      LOG.debug("Could not collect an inbox, will retry", unavailable);
      return !announced.add(session);
    }
  }

  /** Starts to collect all inboxes that are not empty, since announcements may be lost. */
  void collectAll() {
    long search = searches.incrementAndGet();
    startRetrying("inbox-search", () -> searches.get() != search || announceWaiting());
  }

  private boolean announceWaiting() {
    try {
      scripts.waiting(owned.sessions()).forEach(this::announce);
      return true;
    } catch (LogException.StoreUnavailable unavailable) {
      LOG.debug("Could not look for inbox messages, will retry", unavailable);
      return false;
    }
  }

  private void startRetrying(String thread, BooleanSupplier attempt) {
    Thread.ofVirtual()
        .name(thread)
        .start(() -> {
          while (!closed && !attempt.getAsBoolean()) {
            LockSupport.parkNanos(RETRY_AFTER.toNanos());
          }
        });
  }

  /** Forgets a session that has ended, and notifies the receiver without waiting. */
  void forget(LogKey session) {
    received.remove(session);
    Receiver to = receiver;
    if (to != null) {
      Thread.ofVirtual().name("inbox-end").start(() -> to.ended(session));
    }
  }

  /** Stops collecting. */
  void close() {
    closed = true;
  }
}
