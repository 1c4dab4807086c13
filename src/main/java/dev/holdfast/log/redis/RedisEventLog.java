package dev.holdfast.log.redis;

import static dev.holdfast.log.redis.script.StoreCalls.available;
import static dev.holdfast.redis.RedisClient.number;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.EventLog.Watcher;
import dev.holdfast.log.LogException;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.ReaderWindow;
import dev.holdfast.log.Retention;
import dev.holdfast.log.SharedLog;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.log.WatcherRegistry;
import dev.holdfast.log.redis.script.StreamField;
import dev.holdfast.log.redis.script.StreamOwner;
import dev.holdfast.log.redis.script.StreamScripts;
import dev.holdfast.log.redis.write.AppendScripts;
import dev.holdfast.log.redis.write.OwnedStream;
import dev.holdfast.log.redis.write.OwnedStreams;
import dev.holdfast.log.redis.write.StreamReports;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.redis.RedisServerInfo;
import dev.holdfast.redis.RedisSubscription;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * An event log in Redis Streams, where every replica finds the events of all others. {@link
 * StreamField} documents what the session hash records of each open stream.
 */
public final class RedisEventLog implements EventLog {

  private static final Logger LOG = Logger.getLogger(RedisEventLog.class);

  /** Time between two reports of written and of delivered streams. */
  private static final Duration UPKEEP_INTERVAL = Duration.ofMillis(500);

  /** Time between two looks for lost messages of other replicas, on a cluster. */
  private static final Duration LOOK_INTERVAL = Duration.ofSeconds(10);

  private final RedisClient client;
  private final RedisSubscription channel;
  private final RedisKeys keys;
  private final StreamScripts scripts;
  private final WatcherRegistry watchers = new WatcherRegistry();
  private final OwnedStreams owned;
  private final RedisStreamReader reader;
  private final MissedMessages missed;
  private final StreamOwnership ownership;
  private final LocalReaders readers;
  private final RedisInbox inbox;
  private final StreamReports reports;
  private final TotalQuota quota;

  private final List<Thread> upkeep = new ArrayList<>();

  /** The policy of the last look that lets Redis drop data. */
  private volatile Optional<String> eviction = Optional.empty();

  /**
   * Limits of a log.
   *
   * @param all maximum number of bytes of the events of all sessions
   * @param ofClient the same for the sessions of one client
   */
  public record Bytes(long all, long ofClient) {}

  /**
   * Creates a log on connections that the caller made and closes.
   *
   * @param channel this replica's channel, to which the log listens from now on
   * @param replica this replica's id, without spaces, which names the channel
   * @param sessionRecorder records a session before this replica becomes the owner of a stream in
   *     it, so that other replicas find the session if this one is lost. If it throws a {@link
   *     dev.holdfast.redis.RedisException}, the stream is not opened
   * @param isAlive returns true for the id of a replica that does not count as lost
   */
  public RedisEventLog(
      RedisClient client,
      RedisSubscription channel,
      RedisKeys keys,
      String replica,
      Consumer<LogKey> sessionRecorder,
      Retention retention,
      Bytes most,
      Predicate<String> isAlive) {
    this.client = client;
    this.channel = channel;
    this.keys = keys;
    scripts = new StreamScripts(client, keys, replica, retention);
    AppendScripts appends = new AppendScripts(client, keys, replica, retention);
    reports = new StreamReports(appends, retention);
    owned =
        new OwnedStreams(
            appends,
            reports,
            watchers,
            (stream, window) -> scripts.findReader(stream, window, isAlive),
            retention);
    reader = new RedisStreamReader(client, keys, owned, watchers);
    inbox = new RedisInbox(client, keys, replica, retention, owned);
    readers = new LocalReaders(scripts, watchers, owned, retention, reports);
    missed = new MissedMessages(client, keys, replica, watchers);
    ownership =
        new StreamOwnership(
            replica, sessionRecorder, scripts, inbox, owned, watchers, missed, this::sessionEnded);
    quota = new TotalQuota(client, keys, replica, most.all(), most.ofClient(), reports);
    upkeep.add(every(UPKEEP_INTERVAL, "log-upkeep", this::reportToRedis));
    if (missed.mayHaveSome()) {
      upkeep.add(every(LOOK_INTERVAL, "log-looks", this::look));
    }
    channel.addListener(this::received, this::channelRestored);
  }

  private static Thread every(Duration interval, String name, Runnable work) {
    return Thread.ofVirtual()
        .name(name)
        .start(() -> {
          try {
            while (true) {
              Thread.sleep(interval);
              quietly(work);
            }
          } catch (InterruptedException closing) {
            LOG.debugf("the log is closing, this ends: %s", name);
          }
        });
  }

  private void look() {
    try {
      missed.look(_ -> true);
    } catch (LogException.StoreUnavailable away) {
      LOG.debugf("the next look finds what was missed: %s", away.getMessage());
    }
  }

  private void reportToRedis() {
    quota.keep();
    readers.repeat();
  }

  private static void quietly(Runnable work) {
    try {
      work.run();
    } catch (RuntimeException unexpected) {
      LOG.error("a report to Redis failed unexpectedly", unexpected);
    }
  }

  /** The operations of a log that several replicas share. */
  public SharedLog shared() {
    return ownership;
  }

  @Override
  public void begin(LogKey session, String client) {
    available("begin a session", () -> scripts.beginSession(session, client));
  }

  @Override
  public void end(LogKey session) {
    reports.report(session).join(); // Redis removes only the complete streams that it knows of.
    available("end a session", () -> scripts.endSession(session));
    sessionEnded(session);
  }

  @Override
  public StreamWriter open(
      StreamRef stream, String requests, String tool, @Nullable String sharedStream) {
    // A stream that is kept in a shared one has no tail.
    return ownership.open(stream, requests, tool, sharedStream, sharedStream == null);
  }

  @Override
  public StreamWriter openUnfollowed(StreamRef stream, @Nullable String sharedStream) {
    return ownership.open(stream, "", "", sharedStream, false);
  }

  @Override
  public void openShared(StreamRef stream) {
    available("open a stream", () -> scripts.open(stream, StreamOwner.NOBODY, "", "", null, false));
  }

  @Override
  public ReadResult read(StreamRef stream, Position after, int maxEvents, long maxBytes) {
    if (maxEvents < 1) {
      throw new IllegalArgumentException("maxEvents must be positive");
    }
    return reader.read(stream, after, maxEvents, maxBytes);
  }

  @Override
  public Supplier<ReadResult> readAhead(
      StreamRef stream, Position after, int maxEvents, long maxBytes) {
    return reader.readAhead(stream, after, maxEvents, maxBytes);
  }

  @Override
  public ReadResult readStored(StreamRef stream, Position after, int maxEvents, long maxBytes) {
    return reader.readStored(stream, after, maxEvents, maxBytes);
  }

  @Override
  public Optional<Position> newest(StreamRef stream) {
    return reader.newest(stream);
  }

  @Override
  public Optional<Position> newestUntil(StreamRef stream, long millis) {
    return reader.newestUntil(stream, Long.toString(millis));
  }

  @Override
  public Optional<Position> beforeOldest(StreamRef stream) {
    return reader.beforeOldest(stream);
  }

  @Override
  public boolean isWrittenHere(StreamRef stream) {
    return owned.isWritten(stream);
  }

  @Override
  public EventLog.Watch watch(StreamRef stream, @Nullable Position cursor, Watcher watcher) {
    return readers.watch(stream, cursor, watcher);
  }

  @Override
  public EventLog.Watch watchShared(StreamRef stream, Watcher watcher) {
    return watchers.share(stream, watcher);
  }

  @Override
  public void markDelivered(StreamRef stream, Position position) {
    readers.record(stream, position);
  }

  @Override
  public Position deliveredUpTo(StreamRef stream) {
    return readers.deliveredUpTo(stream);
  }

  @Override
  public void markFullyDelivered(StreamRef stream, boolean keep) {
    reports.delivered(stream, keep);
  }

  /** Forgets the streams of expired sessions, which Redis removes by itself. */
  @Override
  public void sweep() {
    warnOfEviction();
    owned.sweep();
  }

  private void warnOfEviction() {
    Map<String, String> memory =
        available("read the memory", () -> new RedisServerInfo(client, keys).info("memory"));
    Optional<String> policy = RedisServerInfo.evictionPolicy(memory);
    if (policy.isPresent() && !policy.equals(eviction)) {
      LOG.warnf(
          "Redis may drop sessions and streams in use maxmemory-policy=%s advice=set it to noeviction",
          policy.get());
    }
    eviction = policy;
  }

  @Override
  public void check() {
    available(
        "reach the store",
        () -> {
          channel.check();
          client.check(keys.check());
        });
  }

  /** Reports only the memory, since Redis counts the events of one stream at a time. */
  @Override
  public EventLog.Size depth() {
    RedisServerInfo server = new RedisServerInfo(client, keys);
    String used =
        available("read the memory usage", () -> server.info("memory")).get("used_memory");
    return new EventLog.Size(
        OptionalLong.empty(),
        used == null ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(used)),
        available("read the size of the log", quota::used));
  }

  @Override
  public void close() {
    upkeep.forEach(Thread::interrupt);
    quietly(this::reportToRedis);
    owned.close();
    inbox.close();
  }

  /** Handles a message from a script of another replica. */
  private void received(String message) {
    String[] words = message.split(" ", 4);
    switch (words[0]) {
      case "wake" -> wake(stream(words));
      case "read" -> {
        ReaderWindow window = owned.window(stream(words));
        if (window != null) {
          window.advance(ReaderWindow.REMOTE, Position.parse(words[3]).orElse(Position.START));
        }
      }
      case "evict" -> evict(stream(words), Long.parseLong(words[3]));
      case "in" -> inbox.announce(new LogKey(words[1]));
      case "ask" -> watchers.requested(stream(words), words[3]);
      case "end" -> sessionEnded(new LogKey(words[1]));
      default -> {
        // The message is for another listener of this channel.
      }
    }
  }

  private static StreamRef stream(String[] words) {
    return new StreamRef(new LogKey(words[1]), words[2]);
  }

  private void wake(StreamRef stream) {
    OwnedStream own = owned.find(stream);
    if (own != null) {
      own.recent().doubt();
    }
    watchers.wake(stream);
  }

  /**
   * Evicts a watcher: another replica has the tail of the stream now.
   *
   * @param number the number of the previous tail; 0 for the tail recorded on opening
   */
  private void evict(StreamRef stream, long number) {
    OwnedStream own = owned.find(stream);
    if (number == 0 && own != null) {
      own.loseRecordedTail().ifPresent(taken -> watchers.evict(stream, taken));
    } else {
      watchers.evict(stream, number);
    }
  }

  /** Catches up on messages that were missed while the channel was not subscribed. */
  private void channelRestored() {
    owned.doubtAll();
    watchers.wakeAll();
    inbox.collectAll();
  }

  private void sessionEnded(LogKey session) {
    owned.end(session);
    ownership.forget(session);
    watchers.wakeAll(session);
    reports.used(session); // The next report finds no bytes and removes the session.
    inbox.forget(session);
  }
}
