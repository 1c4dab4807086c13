package dev.holdfast.log.redis;

import static dev.holdfast.log.redis.script.StoreCalls.available;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogException;
import dev.holdfast.log.LogSize;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.log.Watch;
import dev.holdfast.log.Watcher;
import dev.holdfast.log.WatcherRegistry;
import dev.holdfast.log.ownership.AdoptedStream;
import dev.holdfast.log.ownership.Inbox;
import dev.holdfast.log.ownership.SharedLog;
import dev.holdfast.log.redis.inbox.InboxScripts;
import dev.holdfast.log.redis.inbox.RedisInbox;
import dev.holdfast.log.redis.read.LogReader;
import dev.holdfast.log.redis.read.RedisStreamReader;
import dev.holdfast.log.redis.script.StreamField;
import dev.holdfast.log.redis.script.StreamScripts;
import dev.holdfast.log.redis.write.AppendScripts;
import dev.holdfast.log.redis.write.OwnedStream;
import dev.holdfast.log.redis.write.OwnedStreams;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisKeys;
import dev.holdfast.redis.RedisSubscription;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * An event log in Redis Streams, where every replica finds the events of all others. {@link
 * StreamField} documents what the session hash records of each open stream.
 */
public final class RedisEventLog implements EventLog, SharedLog {

  private static final Pattern USED_MEMORY = Pattern.compile("(?m)^used_memory:(\\d+)");

  private final RedisClient client;
  private final RedisSubscription channel;
  private final RedisKeys keys;
  private final StreamScripts scripts;
  private final WatcherRegistry watchers = new WatcherRegistry();
  private final OwnedStreams owned;
  private final LogReader reader;
  private final StreamOwnership ownership;
  private final DeliveryRecorder deliveries;
  private final RedisInbox inbox;
  private final MissedEvictions missedEvictions;

  /**
   * Creates a log on connections that the caller made and closes.
   *
   * @param channel this replica's channel, to which the log listens from now on
   * @param replica this replica's id, without spaces, which names the channel
   * @param sessionRecorder records a session before this replica becomes the owner of a stream in
   *     it, so that other replicas find the session if this one is lost. If it throws a {@link
   *     dev.holdfast.redis.RedisException}, the stream is not opened
   */
  public RedisEventLog(
      RedisClient client,
      RedisSubscription channel,
      RedisKeys keys,
      String replica,
      Consumer<String> sessionRecorder,
      Retention retention) {
    this.client = client;
    this.channel = channel;
    this.keys = keys;
    scripts = new StreamScripts(client, keys, replica, retention);
    owned = new OwnedStreams(new AppendScripts(client, keys, replica, retention), watchers);
    reader = new LogReader(new RedisStreamReader(client, keys), owned, watchers);
    InboxScripts inboxes = new InboxScripts(client, keys, replica, retention);
    ownership =
        new StreamOwnership(client, keys, replica, sessionRecorder, scripts, inboxes, owned);
    deliveries = new DeliveryRecorder(scripts::recordDelivery);
    inbox =
        new RedisInbox(
            inboxes,
            owned::sessions,
            (stream, owner, keptIn) -> owned.add(stream, owner, Position.START, keptIn));
    missedEvictions = new MissedEvictions(client, keys, replica, watchers);
    channel.addListener(this::received, this::channelRestored);
  }

  @Override
  public Inbox inbox() {
    return inbox;
  }

  @Override
  public void begin(String session) {
    available("begin a session", () -> scripts.beginSession(session));
  }

  @Override
  public void end(String session) {
    available("end a session", () -> scripts.endSession(session));
    sessionEnded(session);
  }

  @Override
  public StreamWriter open(StreamRef stream, String requests, @Nullable String sharedStream) {
    return available("open a stream", () -> ownership.open(stream, requests, sharedStream));
  }

  @Override
  public void openShared(StreamRef stream) {
    available("open a stream", () -> scripts.openShared(stream));
  }

  @Override
  public List<AdoptedStream> adopt(String session, String lost) {
    List<AdoptedStream> adopted = ownership.adopt(session, lost);
    if (!adopted.isEmpty()) {
      // Messages that the lost replica did not collect were announced to it alone.
      inbox.announce(session);
    }
    return adopted;
  }

  @Override
  public Map<StreamRef, String> findOrphaned(Collection<String> sessions) {
    return ownership.findOrphaned(sessions);
  }

  @Override
  public List<AdoptedStream> reclaim(String session, Set<String> names) {
    return ownership.reclaim(session, names);
  }

  @Override
  public Set<StreamRef> findTakenOver(Collection<StreamRef> streams) {
    return ownership.findTakenOver(streams);
  }

  @Override
  public ReadResult read(StreamRef stream, Position after, int maxEvents) {
    if (maxEvents < 1) {
      throw new IllegalArgumentException("maxEvents must be positive");
    }
    return reader.read(stream, after, maxEvents);
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
  public Watch watch(StreamRef stream, Watcher watcher) {
    OwnedStream own = owned.find(stream);
    // Register before the script runs: an eviction must find the watcher.
    WatcherRegistry.Registration registration =
        watchers.register(stream, watcher, () -> owned.tailLeft(stream));
    try {
      if (own == null || !own.takeRecordedTail(registration.number())) {
        available("watch a stream", () -> scripts.registerTail(stream, registration.number()));
      }
    } catch (LogException.StoreUnavailable unavailable) {
      registration.close();
      throw unavailable;
    }
    registration.markRecorded();
    if (own != null) {
      own.recent().setKept(true);
    }
    return registration;
  }

  @Override
  public void markDelivered(StreamRef stream, Position position) {
    deliveries.record(stream, position);
  }

  @Override
  public Position deliveredUpTo(StreamRef stream) {
    Position unrecorded = deliveries.unrecorded(stream);
    if (unrecorded != null) {
      return unrecorded;
    }
    Request get = StreamField.DELIVERED.get(keys, stream);
    return available("read a session", () -> Optional.ofNullable(client.send(get)))
        .flatMap(stored -> Position.parse(stored.toString()))
        .orElse(Position.START);
  }

  @Override
  public void markFullyDelivered(StreamRef stream) {
    scripts.retire(stream);
  }

  /** Forgets the streams of expired sessions, which Redis removes by itself. */
  @Override
  public void sweep() {
    owned.sweep();
    inbox.collectAll();
    List<String> sessions =
        Stream.concat(owned.sessions().stream(), ownership.unsettledSessions().stream())
            .distinct()
            .toList();
    List<Request> requests =
        sessions.stream()
            .map(session -> Request.cmd(Command.EXISTS).arg(keys.session(session)))
            .toList();
    List<@Nullable Response> answers = available("sweep", () -> client.sendMany(requests));
    for (int i = 0; i < sessions.size(); i++) {
      Response exists = answers.get(i);
      if (exists != null && exists.toString().equals("0")) {
        sessionEnded(sessions.get(i));
      }
    }
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
  public LogSize depth() {
    Request info = Request.cmd(Command.INFO).arg("memory");
    Optional<Response> memory =
        available("read the memory usage", () -> Optional.ofNullable(client.send(info)));
    Matcher used = USED_MEMORY.matcher(memory.map(Response::toString).orElse(""));
    return new LogSize(
        OptionalLong.empty(),
        used.find() ? OptionalLong.of(Long.parseLong(used.group(1))) : OptionalLong.empty());
  }

  @Override
  public void close() {
    owned.close();
    inbox.close();
  }

  private void received(String message) {
    switch (ChannelMessage.parse(message)) {
      case ChannelMessage.Wake(StreamRef stream) -> {
        OwnedStream own = owned.find(stream);
        if (own != null) {
          own.recent().doubt();
        }
        watchers.wake(stream);
      }
      case ChannelMessage.Evict(StreamRef stream, long number) -> evict(stream, number);
      case ChannelMessage.InboxFilled(String session) -> inbox.announce(session);
      case ChannelMessage.SessionEnded(String session) -> sessionEnded(session);
      case null -> {
        // The message is for another listener of this channel.
      }
    }
  }

  private void evict(StreamRef stream, long number) {
    OwnedStream own = owned.find(stream);
    if (number == 0 && own != null) {
      own.loseRecordedTail().ifPresent(taken -> watchers.evict(stream, taken));
    } else {
      watchers.evict(stream, number);
    }
  }

  @Override
  public void evictReplacedWatchers() {
    available("look for missed evictions", missedEvictions::evict);
  }

  /** Catches up on messages that were missed while the channel was not subscribed. */
  private void channelRestored() {
    owned.doubtAll();
    watchers.wakeAll();
    inbox.collectAll();
  }

  private void sessionEnded(String session) {
    owned.end(session);
    ownership.forget(session);
    watchers.wakeSession(session);
    inbox.forget(session);
  }
}
