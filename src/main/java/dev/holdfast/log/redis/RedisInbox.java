package dev.holdfast.log.redis;

import static dev.holdfast.log.redis.script.StoreCalls.available;
import static dev.holdfast.log.redis.script.StreamScripts.textOrNull;
import static dev.holdfast.redis.RedisClient.number;

import dev.holdfast.log.Inbox;
import dev.holdfast.log.LogException;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.Position;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.log.redis.script.StreamField;
import dev.holdfast.log.redis.script.StreamOwner;
import dev.holdfast.log.redis.script.StreamScripts;
import dev.holdfast.log.redis.write.OwnedStreams;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisException;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.redis.RedisScript;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.IntStream;
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

  /** Maximum number of messages in one inbox. */
  static final int MAX_MESSAGES = 256;

  /** An inbox with this many bytes refuses further messages of any size. */
  static final int MAX_BYTES = 16 << 20;

  private static final int PAGE_BYTES = 1 << 20;

  private final RedisScript putMessage;
  private final RedisScript openRemoteStream;
  private final RedisScript collectMessages;

  private final RedisClient client;
  private final RedisKeys keys;
  private final String replica;
  private final Retention retention;
  private final OwnedStreams owned;

  /** The lock of a session is held while its inbox is collected, to keep the messages in order. */
  private final List<ReentrantLock> locks =
      Stream.generate(ReentrantLock::new).limit(LOCKS).toList();

  /** Ids and bytes of received messages that may still be in the inbox. Guarded by the lock. */
  private final Map<LogKey, Map<String, Integer>> received = new ConcurrentHashMap<>();

  /** Sessions that a thread is about to collect. */
  private final Set<LogKey> announced = ConcurrentHashMap.newKeySet();

  private final AtomicLong searches = new AtomicLong();
  private volatile @Nullable Receiver receiver;
  private volatile boolean closed;

  RedisInbox(
      RedisClient client, RedisKeys keys, String replica, Retention retention, OwnedStreams owned) {
    this.owned = owned;
    this.client = client;
    this.keys = keys;
    this.replica = replica;
    this.retention = retention;
    putMessage = StreamScripts.load(client, "put-message.lua");
    openRemoteStream =
        StreamScripts.load(client, "open-stream-checks.lua", "open-remote-stream.lua");
    collectMessages = StreamScripts.load(client, "collect-messages.lua");
  }

  /**
   * A message in an inbox.
   *
   * @param id the id under which Redis keeps it
   * @param owner in whose name its stream was opened together with it; null when it was not
   * @param keptIn the name of the shared stream that keeps the events of that stream; null for none
   */
  record Entry(String id, Message message, @Nullable String owner, @Nullable String keptIn) {

    private static Entry of(LogKey session, Response entry) {
      List<StreamRef> streams =
          Stream.of(entry.get(1).toString().split(" "))
              .map(name -> new StreamRef(session, name))
              .toList();
      return new Entry(
          entry.get(0).toString(),
          new Message(streams, entry.get(2).toBytes()),
          textOrNull(entry.get(3)),
          textOrNull(entry.get(4)));
    }
  }

  @Override
  public List<OpenCall> openCalls(LogKey session) {
    return reachable(() -> StreamField.REQUESTS.scan(client, keys, List.of(session)))
        .entrySet()
        .stream()
        .filter(each -> !each.getValue().isEmpty())
        .map(each -> new OpenCall(each.getKey(), each.getValue()))
        .toList();
  }

  @Override
  public boolean put(StreamRef stream, byte[] message) {
    return put(stream.key(), stream.name(), message) > 0;
  }

  @Override
  public int putForOthers(LogKey session, byte[] message) {
    return put(session, "", message);
  }

  /**
   * Puts a message. Repeats the call when its outcome is unknown.
   *
   * @param name the stream's name; empty for the streams of all other replicas
   * @return the number of replicas for which it was put
   */
  private int put(LogKey session, String name, byte[] message) {
    String messageId = "+" + StreamOwner.newFence();
    Supplier<String> attempt =
        () ->
            putMessage.runForText(
                List.of(
                    keys.session(session.value()),
                    keys.inbox(session.value()),
                    keys.ends(session.value())),
                List.of(name, message, replica, keys.replicaChannels(), session.value()),
                List.of(MAX_MESSAGES, MAX_BYTES, retention.sessionTtl().toMillis(), messageId));
    Optional<String> first = reachable(() -> unlessUnknown(attempt));
    String result = first.isPresent() ? first.get() : reachable(attempt);
    if (result.equals("FULL")) {
      throw first.isPresent()
          ? new LogException.InboxFull()
          // The first attempt may be delayed and arrive when there is room.
          : new LogException.StoreUnavailable("a delayed message may still reach an inbox", null);
    }
    return Integer.parseInt(result);
  }

  @Override
  public boolean putRequest(
      StreamRef stream,
      String requests,
      String tool,
      @Nullable String sharedStream,
      String ownedStream,
      byte[] message) {
    String fence = StreamOwner.newFence();
    String call = StreamScripts.opening(requests, tool);
    return putRequest(stream, fence, requests, call, sharedStream, ownedStream, message);
  }

  /** Repeats the call when its outcome is unknown. */
  boolean putRequest(
      StreamRef stream,
      String fence,
      String requests,
      String call,
      @Nullable String sharedStream,
      String ownedStream,
      byte[] message) {
    LogKey session = stream.key();
    Supplier<String> attempt =
        () ->
            openRemoteStream.runForText(
                List.of(
                    keys.session(session.value()),
                    keys.stream(session.value(), stream.name()),
                    keys.inbox(session.value())),
                List.of(stream.name(), fence, replica + " 0", requests, retention.maxStreams()),
                List.of(retention.sessionTtl().toMillis(), ownedStream, message),
                List.of(keys.replicaChannels(), session.value(), MAX_MESSAGES, MAX_BYTES),
                List.of(Objects.requireNonNullElse(sharedStream, ""), call));
    return switch (reachable(() -> unlessUnknown(attempt))
        .orElseGet(() -> openRemoteAgain(attempt))) {
      case "OK" -> true;
      case "NO_OWNER" -> false;
      case "FULL" -> throw new LogException.InboxFull();
      case String refused -> throw StreamScripts.refusal(refused, stream, retention);
    };
  }

  private static String openRemoteAgain(Supplier<String> attempt) {
    String result;
    try {
      result = attempt.get();
    } catch (RedisException failure) {
      throw new LogException.OutcomeUnknown("a request may be in an inbox", failure);
    }
    // If the stream exists, it was opened, and was answered or adopted since.
    if (result.equals("OK") || result.equals("EXISTS")) {
      return "OK";
    }
    // The first attempt may be delayed and arrive when Redis no longer refuses it.
    throw new LogException.OutcomeUnknown("a request may still arrive: " + result, null);
  }

  @Override
  public boolean isOpen(StreamRef stream) {
    return reachable(() -> client.send(StreamField.OWNER.get(keys, stream)) != null);
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
    List<Entry> page = collect(session, received.getOrDefault(session, Map.of()));
    received.remove(session);
    Map<String, Integer> now = new HashMap<>();
    try {
      for (Entry entry : page) {
        deliver(withWriter(entry), to);
        now.put(entry.id(), entry.message().message().length);
      }
    } finally {
      if (!now.isEmpty()) {
        received.put(session, now);
      }
    }
    return !page.isEmpty();
  }

  private Message withWriter(Entry entry) {
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
    startRetrying("inbox-search", () -> searches.get() != search || collectSome(_ -> true));
  }

  /** Does the same for some sessions. Returns false if the store is away. */
  boolean collectSome(Predicate<LogKey> which) {
    try {
      waiting(owned.sessions().stream().filter(which).toList()).forEach(this::announce);
      return true;
    } catch (LogException.StoreUnavailable unavailable) {
      LOG.debug("Could not look for inbox messages", unavailable);
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

  /**
   * Removes received messages, by their ids and bytes, and returns the oldest other messages for
   * this replica in order.
   */
  List<Entry> collect(LogKey session, Map<String, Integer> received) {
    List<?> removed =
        received.entrySet().stream().map(each -> List.of(each.getKey(), each.getValue())).toList();
    return reachable(() ->
            collectMessages.runForList(
                List.of(keys.session(session.value()), keys.inbox(session.value())),
                replica,
                PAGE_BYTES,
                removed))
        .stream()
        .map(each -> Entry.of(session, each))
        .toList();
  }

  /** Finds the sessions whose inbox is not empty. */
  List<LogKey> waiting(List<LogKey> sessions) {
    List<Request> requests =
        sessions.stream()
            .map(session -> Request.cmd(Command.XLEN, keys.inbox(session.value())))
            .toList();
    List<@Nullable Response> lengths = reachable(() -> client.sendMany(requests));
    return IntStream.range(0, sessions.size())
        .filter(i -> number(lengths.get(i)) > 0)
        .mapToObj(sessions::get)
        .toList();
  }

  /** Returns empty when the outcome is unknown. */
  private static Optional<String> unlessUnknown(Supplier<String> attempt) {
    try {
      return Optional.of(attempt.get());
    } catch (RedisException.UnknownOutcome unknown) {
      return Optional.empty();
    }
  }

  private static <T> T reachable(Supplier<T> call) {
    return available("reach an inbox", call);
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
