package dev.holdfast.log.redis;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogSize;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StoreUnavailableException;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.log.Watch;
import dev.holdfast.log.Watcher;
import dev.holdfast.log.WatcherRegistry;
import dev.holdfast.log.ownership.AdoptedStream;
import dev.holdfast.log.ownership.Inbox;
import dev.holdfast.log.ownership.SharedLog;
import dev.holdfast.redis.RedisClient;
import dev.holdfast.redis.RedisException;
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
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the events in Redis Streams, where every replica finds them.
 *
 * <p>Per open stream the session's hash has these fields, where <i>s</i> is the stream's name:
 *
 * <ul>
 *   <li>{@code o:}<i>s</i>: its owner, as replica and fence
 *   <li>{@code r:}<i>s</i>: the ids of the requests that it answers
 *   <li>{@code l:}<i>s</i>: the position of its last event
 *   <li>{@code t:}<i>s</i>: its one tail, as replica and number
 *   <li>{@code d:}<i>s</i>: up to where it was delivered, once something was
 *   <li>{@code u:}<i>s</i>: from where its upstream can go on, as the number of the event before
 *       and the upstream's id, while no event tells
 *   <li>{@code i:}<i>s</i>: the stream that keeps its events, when that is another. Then {@code l:}
 *       counts its own, {@code u:} is there once an event had an id, and nobody is its tail
 * </ul>
 *
 * A complete stream has none of them: its last entry, which has the field {@code z}, tells enough.
 * A stream that is kept in another leaves its end in a set of such ends. A shared stream has {@code
 * -} for its owner: no replica of that name is ever lost, and none claims it.
 */
public final class RedisEventLog implements EventLog, SharedLog {

  private static final Pattern USED_MEMORY = Pattern.compile("(?m)^used_memory:(\\d+)");

  private final RedisClient link;
  private final RedisSubscription channel;
  private final RedisKeys keys;
  private final OwnedSessionRecorder ownership;
  private final LogScripts scripts;
  private final Reads reads;
  private final WatcherRegistry watchers = new WatcherRegistry();
  private final OwnedStreams owned;
  private final StreamOwnership claims;
  private final DeliveryMarks deliveries;
  private final RedisInbox inbox;
  private final MissedEvictions lostEvictions;

  /**
   * Creates a log on connections that are not its own: whoever made them closes them.
   *
   * @param channel this replica's channel, to which the log listens from now on
   * @param replica this replica's id, without spaces, by which the channel is named
   * @param ownership hears of the sessions of which this replica owns streams
   */
  public RedisEventLog(
      RedisClient link,
      RedisSubscription channel,
      RedisKeys keys,
      String replica,
      OwnedSessionRecorder ownership,
      Retention retention) {
    this.link = link;
    this.channel = channel;
    this.keys = keys;
    this.ownership = ownership;
    this.scripts = new LogScripts(link, keys, replica, retention);
    this.owned = new OwnedStreams(scripts, watchers);
    this.reads = new Reads(new RedisStreamReader(link, keys), owned, watchers);
    InboxScripts inboxes = new InboxScripts(link, keys, replica, retention);
    UnwrittenStreams unwritten = new UnwrittenStreams(link, keys, replica, owned, inboxes);
    this.claims = new StreamOwnership(link, keys, replica, ownership, scripts, owned, unwritten);
    this.deliveries = new DeliveryMarks(scripts::delivered);
    this.inbox = new RedisInbox(inboxes, this::sessions, owned::asked);
    this.lostEvictions = new MissedEvictions(link, keys, replica, watchers);
    channel.addListener(this::hear, this::lookAgain);
  }

  @Override
  public Inbox inbox() {
    return inbox;
  }

  @Override
  public void begin(String session) {
    available("begin a session", () -> scripts.begin(session));
  }

  @Override
  public void end(String session) {
    available("end a session", () -> scripts.end(session));
    ended(session);
  }

  @Override
  public StreamWriter open(StreamRef stream, String requests, @Nullable String into) {
    String owner = claims.newOwner();
    return available(
        "open a stream",
        () ->
            owned.open(
                stream,
                owner,
                into,
                () -> {
                  ownership.owning(stream.session());
                  scripts.open(stream, owner, requests, into);
                }));
  }

  @Override
  public void openShared(StreamRef stream) {
    available("open a stream", () -> scripts.openShared(stream));
  }

  @Override
  public List<AdoptedStream> adopt(String session, String former) {
    List<AdoptedStream> adopted = claims.adopt(session, former);
    if (!adopted.isEmpty()) {
      inbox.notice(session); // What the former owner has not taken told nobody else.
    }
    return adopted;
  }

  @Override
  public Map<StreamRef, String> findOrphaned(Collection<String> sessions) {
    return claims.findOrphaned(sessions);
  }

  @Override
  public List<AdoptedStream> reclaim(String session, Set<String> names) {
    return claims.reclaim(session, names);
  }

  @Override
  public Set<StreamRef> findTakenOver(Collection<StreamRef> streams) {
    return claims.findTakenOver(streams);
  }

  @Override
  public ReadResult read(StreamRef stream, Position after, int maxEvents) {
    if (maxEvents < 1) {
      throw new IllegalArgumentException("a page has room for at least one event");
    }
    return reads.read(stream, after, maxEvents);
  }

  @Override
  public Optional<Position> beforeOldest(StreamRef stream) {
    return reads.beforeOldest(stream);
  }

  @Override
  public boolean isWrittenHere(StreamRef stream) {
    return owned.isWritten(stream);
  }

  @Override
  public Watch watch(StreamRef stream, Watcher watcher) {
    OwnedStream own = owned.find(stream);
    // Before the script: word that the seat is another's again must find it taken.
    WatcherRegistry.Registration seat =
        watchers.register(stream, watcher, () -> owned.left(stream));
    try {
      if (own == null || !own.takeFree(seat.number())) {
        available("watch a stream", () -> scripts.watch(stream, seat.number()));
      }
    } catch (StoreUnavailableException unavailable) {
      seat.close();
      throw unavailable;
    }
    seat.markRecorded();
    if (own != null) {
      own.head().setActive(true);
    }
    return seat;
  }

  @Override
  public void markDelivered(StreamRef stream, Position position) {
    deliveries.mark(stream, position);
  }

  @Override
  public Position deliveredUpTo(StreamRef stream) {
    Position pending = deliveries.pending(stream);
    if (pending != null) {
      return pending;
    }
    Request get =
        Request.cmd(Command.HGET).arg(keys.session(stream.session())).arg("d:" + stream.name());
    Response stored =
        available("read a session", () -> Optional.ofNullable(link.send(get))).orElse(null);
    return stored == null
        ? Position.START
        : Position.parse(stored.toString()).orElse(Position.START);
  }

  @Override
  public void markFullyDelivered(StreamRef stream) {
    scripts.retire(stream);
  }

  /** The sessions in which this replica owns streams. */
  private List<String> sessions() {
    return owned.all().stream().map(StreamRef::session).distinct().toList();
  }

  /** Redis expires by itself; what is left is to forget the streams of sessions that it expired. */
  @Override
  public void sweep() {
    owned.sweep();
    inbox.lookAgain();
    List<String> sessions =
        Stream.concat(sessions().stream(), claims.sessions().stream()).distinct().toList();
    for (int from = 0; from < sessions.size(); from += RedisClient.BATCH_SIZE) {
      sweep(sessions.subList(from, Math.min(sessions.size(), from + RedisClient.BATCH_SIZE)));
    }
  }

  private void sweep(List<String> sessions) {
    List<Request> questions =
        sessions.stream()
            .map(session -> Request.cmd(Command.EXISTS).arg(keys.session(session)))
            .toList();
    List<@Nullable Response> answers = available("sweep", () -> link.sendAll(questions));
    for (int i = 0; i < sessions.size(); i++) {
      Response exists = answers.get(i);
      if (exists != null && exists.toString().equals("0")) {
        ended(sessions.get(i));
      }
    }
  }

  @Override
  public void check() {
    available(
        "reach the store",
        () -> {
          channel.check();
          link.check(keys.check());
        });
  }

  /** Redis counts the events of one stream at a time, but knows what memory all its keys take. */
  @Override
  public LogSize depth() {
    Request info = Request.cmd(Command.INFO).arg("memory");
    Optional<Response> memory =
        available("ask for the memory", () -> Optional.ofNullable(link.send(info)));
    Matcher used = USED_MEMORY.matcher(memory.map(Response::toString).orElse(""));
    return new LogSize(
        OptionalLong.empty(),
        used.find() ? OptionalLong.of(Long.parseLong(used.group(1))) : OptionalLong.empty());
  }

  @Override
  public void close() {
    owned.all().forEach(owned::forget);
    inbox.close();
  }

  private void hear(String message) {
    switch (ChannelMessage.parse(message)) {
      case ChannelMessage.Wake(StreamRef stream) -> {
        OwnedStream own = owned.find(stream);
        if (own != null) {
          own.head().doubt();
        }
        watchers.wake(stream);
      }
      case ChannelMessage.Evict(StreamRef stream, long seat) -> evict(stream, seat);
      case ChannelMessage.In(String session) -> inbox.notice(session);
      case ChannelMessage.End(String session) -> ended(session);
      case null -> {
        // Somebody else listens to this channel too.
      }
    }
  }

  private void evict(StreamRef stream, long seat) {
    OwnedStream own = owned.find(stream);
    if (seat == 0 && own != null) {
      own.loseFree().ifPresent(free -> watchers.evict(stream, free));
    } else {
      watchers.evict(stream, seat);
    }
  }

  @Override
  public void evictReplacedWatchers() {
    available("look for missed evictions", lostEvictions::evict);
  }

  private void lookAgain() {
    owned.doubtAll();
    watchers.wakeAll();
    inbox.lookAgain();
  }

  private void ended(String session) {
    owned.end(session);
    claims.forget(session);
    watchers.wakeSession(session);
    inbox.ended(session);
  }

  static void available(String what, Runnable asked) {
    available(
        what,
        () -> {
          asked.run();
          return true;
        });
  }

  /** For what may be asked again whatever became of it: any failure means that it did not work. */
  static <T> T available(String what, Supplier<T> asked) {
    try {
      return asked.get();
    } catch (RedisException failure) {
      throw new StoreUnavailableException("could not " + what, failure);
    }
  }
}
