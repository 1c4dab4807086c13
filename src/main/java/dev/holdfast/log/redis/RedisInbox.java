package dev.holdfast.log.redis;

import dev.holdfast.log.StoreUnavailableException;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.log.ownership.Inbox;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Inboxes as Redis Streams, one per session that has had something put. An entry has the fields
 * {@code s}, the names of the streams to whose owner it goes, and {@code d}, the message. The field
 * {@code in} of the session's hash has how many bytes of messages wait.
 *
 * <p>To collect is a loop: say what was dealt with, get what is next. So neither a lost reply nor a
 * lost replica loses an entry.
 */
final class RedisInbox implements Inbox {

  private static final Logger LOG = System.getLogger(RedisInbox.class.getName());
  private static final Duration AGAIN_AFTER = Duration.ofSeconds(1);
  private static final int LOCKS = 64;

  private final InboxScripts scripts;
  private final Supplier<List<String>> sessions;
  private final Writers writers;

  /**
   * A session has one of them, held while it is collected, so that its letters keep their order.
   */
  private final List<ReentrantLock> locks =
      Stream.generate(ReentrantLock::new).limit(LOCKS).toList();

  /** By session: what was received and may still be in the inbox. Guarded by the session's lock. */
  private final Map<String, List<InboxScripts.Had>> had = new ConcurrentHashMap<>();

  /** Sessions that a thread is about to collect. */
  private final Set<String> noticed = ConcurrentHashMap.newKeySet();

  private final AtomicLong looks = new AtomicLong();
  private volatile @Nullable Receiver receiver;
  private volatile boolean closed;

  /** Makes writers. */
  interface Writers {
    /**
     * Of a stream that was opened in the name of this replica.
     *
     * @param owner as it is on record
     * @param into the name of the stream that keeps its events; null for itself
     */
    StreamWriter of(StreamRef stream, String owner, @Nullable String into);
  }

  /**
   * @param sessions those in which this replica may own streams
   * @param writers make the writers of streams that were opened in the name of this replica
   */
  RedisInbox(InboxScripts scripts, Supplier<List<String>> sessions, Writers writers) {
    this.scripts = scripts;
    this.sessions = sessions;
    this.writers = writers;
  }

  @Override
  public List<OpenCall> openCalls(String session) {
    return scripts.calls(session);
  }

  @Override
  public boolean put(StreamRef stream, byte[] message) {
    return scripts.put(stream.session(), stream.name(), message) > 0;
  }

  @Override
  public int putForOthers(String session, byte[] message) {
    return scripts.put(session, "", message);
  }

  @Override
  public boolean putRequest(
      StreamRef stream, String requests, @Nullable String into, String home, byte[] message) {
    return scripts.ask(stream, StreamOwnership.newFence(), requests, into, home, message);
  }

  @Override
  public boolean isOpen(StreamRef stream) {
    return scripts.isOpen(stream);
  }

  @Override
  public void setReceiver(Receiver one) {
    receiver = one;
  }

  @Override
  public void collect(String session) {
    Receiver to = receiver;
    if (to == null) {
      return;
    }
    ReentrantLock lock = locks.get(Math.floorMod(session.hashCode(), LOCKS));
    lock.lock();
    try {
      while (collectSome(session, to)) {}
    } finally {
      lock.unlock();
    }
  }

  private boolean collectSome(String session, Receiver to) {
    List<InboxScripts.Entry> found = scripts.collect(session, had.getOrDefault(session, List.of()));
    had.remove(session);
    List<InboxScripts.Had> received = new ArrayList<>();
    try {
      for (InboxScripts.Entry entry : found) {
        hand(letter(entry), to);
        received.add(new InboxScripts.Had(entry));
      }
    } finally {
      if (!received.isEmpty()) {
        had.put(session, received);
      }
    }
    return !found.isEmpty();
  }

  private Message letter(InboxScripts.Entry entry) {
    Message letter = entry.letter();
    String owner = entry.owner();
    if (owner == null) {
      return letter;
    }
    StreamWriter writer = writers.of(letter.streams().getFirst(), owner, entry.into());
    return new Message(letter.streams(), letter.message(), writer);
  }

  private static void hand(Message letter, Receiver to) {
    try {
      to.receive(letter);
    } catch (StoreUnavailableException notNow) {
      throw notNow;
    } catch (RuntimeException unforeseen) {
      // It would fail again, and hold up those behind it.
      LOG.log(Level.ERROR, "A letter was not understood", unforeseen);
    }
  }

  /** Something was put for this replica. Returns at once. */
  void notice(String session) {
    if (noticed.add(session)) {
      Thread.ofVirtual().name("inbox").start(() -> collectAtLast(session));
    }
  }

  private void collectAtLast(String session) {
    while (!closed) {
      // Before the store is asked: what is put after that is told by a notice of its own.
      noticed.remove(session);
      try {
        collect(session);
        return;
      } catch (StoreUnavailableException away) {
        if (!noticed.add(session)) {
          return;
        }
        LOG.log(Level.DEBUG, "An inbox is collected again later", away);
      }
      LockSupport.parkNanos(AGAIN_AFTER.toNanos());
    }
  }

  /** Notices may have been missed. Returns at once. */
  void lookAgain() {
    long look = looks.incrementAndGet();
    Thread.ofVirtual().name("inboxes").start(() -> lookAtLast(look));
  }

  private void lookAtLast(long look) {
    while (!closed && looks.get() == look) {
      try {
        scripts.waiting(sessions.get()).forEach(this::notice);
        return;
      } catch (StoreUnavailableException away) {
        LOG.log(Level.DEBUG, "Inboxes are looked at again later", away);
      }
      LockSupport.parkNanos(AGAIN_AFTER.toNanos());
    }
  }

  /** A session has ended, with its inbox. Returns at once. */
  void ended(String session) {
    had.remove(session);
    Receiver to = receiver;
    if (to != null) {
      Thread.ofVirtual().name("inbox").start(() -> to.sessionEnded(session));
    }
  }

  void close() {
    closed = true;
  }
}
