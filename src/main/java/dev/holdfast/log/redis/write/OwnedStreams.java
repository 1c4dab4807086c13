package dev.holdfast.log.redis.write;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.LogException;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReaderWindow;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.WatcherRegistry;
import dev.holdfast.log.redis.write.UnreportedStream.Reader;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The streams that this replica writes, while they are open or have a local tail. */
public final class OwnedStreams {

  private final AppendScripts scripts;
  private final StreamReports reports;
  private final WatcherRegistry watchers;
  private final BiConsumer<StreamRef, ReaderWindow> remoteReaders;
  private final Retention retention;
  private final ByteBudget budget = ByteBudget.ofHeap(16, 32 << 20);

  /** By session and name: a session ends without a look at all streams. */
  private final Map<LogKey, Map<String, OwnedStream>> streams = new ConcurrentHashMap<>();

  /** Flow control of shared streams to which this replica writes. */
  private final Map<StreamRef, ReaderWindow> shared = new ConcurrentHashMap<>();

  /** Streams that are being opened. */
  private final Set<StreamRef> opening = ConcurrentHashMap.newKeySet();

  /**
   * Creates an empty set of streams.
   *
   * @param remoteReaders asks Redis where the reader of a stream is, and notes it in the window
   */
  public OwnedStreams(
      AppendScripts scripts,
      StreamReports reports,
      WatcherRegistry watchers,
      BiConsumer<StreamRef, ReaderWindow> remoteReaders,
      Retention retention) {
    this.scripts = scripts;
    this.reports = reports;
    this.watchers = watchers;
    this.remoteReaders = remoteReaders;
    this.retention = retention;
  }

  /** Flow control of a stream that this replica writes, or to which it writes; null for others. */
  public @Nullable ReaderWindow window(StreamRef stream) {
    OwnedStream own = find(stream);
    return own == null ? shared.get(stream) : own.window();
  }

  /** Finds a stream; null if this replica does not write it. */
  public @Nullable OwnedStream find(StreamRef stream) {
    return streams.getOrDefault(stream.key(), Map.of()).get(stream.name());
  }

  /** The sessions of all streams. */
  public List<LogKey> sessions() {
    return List.copyOf(streams.keySet());
  }

  /** Returns true if the stream has a writer here, or is being opened. */
  public boolean isWritten(StreamRef stream) {
    OwnedStream owned = find(stream);
    return opening.contains(stream) || (owned != null && !owned.recent().isComplete());
  }

  /**
   * Opens a stream and adds it.
   *
   * @param keptIn the name of the shared stream that keeps the events; null for none
   * @param followed whether the store records this replica as the tail
   * @param script opens the stream in the store
   */
  public RedisStreamWriter open(
      StreamRef stream, String owner, @Nullable String keptIn, boolean followed, Runnable script) {
    opening.add(stream);
    try {
      script.run();
      reports.used(stream.key());
      return add(stream, owner, Position.START, keptIn, followed);
    } finally {
      opening.remove(stream);
    }
  }

  /** Adds a stream that was claimed, or that another replica opened in the name of this one. */
  public RedisStreamWriter add(
      StreamRef stream, String owner, Position last, @Nullable String keptIn) {
    return add(stream, owner, last, keptIn, false);
  }

  private RedisStreamWriter add(
      StreamRef stream, String owner, Position last, @Nullable String keptIn, boolean isTail) {
    StreamRef target = keptIn == null ? stream : new StreamRef(stream.key(), keptIn);
    RecentEvents recent = new RecentEvents(budget, last);
    ReaderWindow window =
        keptIn == null
            ? new ReaderWindow(retention)
            : shared.computeIfAbsent(target, _ -> new ReaderWindow(retention));
    if (keptIn == null) {
      window.wrote(last, 0);
    }
    if (isTail) {
      window.connect(ReaderWindow.EXPECTED, Position.START);
    }
    Store store = new Store(this, stream, target, owner, recent, window);
    RedisStreamWriter writer = new RedisStreamWriter(stream, target, store, window, last);
    streams.compute(
        stream.key(),
        (_, known) -> {
          Map<String, OwnedStream> all = known == null ? new ConcurrentHashMap<>(1) : known;
          all.put(stream.name(), OwnedStream.of(writer, recent, window, isTail));
          return all;
        });
    return writer;
  }

  /** Stops keeping events for the local tail, which has ended. */
  public void tailLeft(StreamRef stream, long number) {
    ReaderWindow window = window(stream);
    if (window != null) {
      window.disconnect(number);
    }
    OwnedStream owned = find(stream);
    if (owned != null) {
      owned.recent().setKept(false);
      forgetIfIdle(stream);
    }
  }

  private boolean isWanted(StreamRef stream) {
    OwnedStream owned = find(stream);
    return watchers.isWatched(stream) || (owned != null && owned.isWatcherExpected());
  }

  private void forgetIfIdle(StreamRef stream) {
    OwnedStream owned = find(stream);
    if (owned != null && owned.recent().isComplete() && !isWanted(stream)) {
      forget(stream);
    }
  }

  /** Forgets complete streams whose first watcher never came. */
  public void sweep() {
    forEach((stream, _) -> forgetIfIdle(stream));
  }

  private void forEach(BiConsumer<StreamRef, OwnedStream> action) {
    streams.forEach(
        (key, all) -> all.forEach((name, owned) -> action.accept(new StreamRef(key, name), owned)));
  }

  private void forget(StreamRef stream) {
    remove(stream, _ -> true);
  }

  private void remove(StreamRef stream, Predicate<OwnedStream> which) {
    streams.computeIfPresent(
        stream.key(),
        (_, all) -> {
          OwnedStream owned = all.get(stream.name());
          if (owned != null && which.test(owned)) {
            owned.recent().setKept(false);
            all.remove(stream.name());
          }
          return all.isEmpty() ? null : all;
        });
  }

  /** Fences the writers of a session that has ended, and forgets its streams. */
  public void end(LogKey session) {
    Map<String, OwnedStream> ended = streams.getOrDefault(session, Map.of());
    ended.values().forEach(owned -> owned.writer().fence());
    List.copyOf(ended.keySet()).forEach(name -> forget(new StreamRef(session, name)));
    shared.keySet().removeIf(stream -> stream.key().equals(session));
  }

  /** Makes all tails ask Redis whether another owner has written, since wake-ups may be lost. */
  public void doubtAll() {
    forEach((_, owned) -> owned.recent().doubt());
  }

  /** Forgets all streams and releases their memory. */
  public void close() {
    forEach((stream, _) -> forget(stream));
  }

  /** Stores the events of one stream and keeps the newest for its local tail. */
  private record Store(
      OwnedStreams all,
      StreamRef stream,
      StreamRef keptIn,
      String owner,
      RecentEvents recent,
      ReaderWindow window)
      implements RedisStreamWriter.Store {

    @Override
    public void findReader() {
      if (all.isWanted(keptIn)) {
        window.disconnect(ReaderWindow.REMOTE);
      } else {
        all.remoteReaders.accept(keptIn, window);
      }
    }

    @Override
    public Position write(WriterProgress progress, List<NewEvent> batch) {
      AppendScripts.Appended appended;
      String read = news();
      try {
        appended =
            keptIn.equals(stream)
                ? all.scripts.append(stream, owner, progress, read, batch)
                : all.scripts.appendToShared(stream, keptIn, owner, progress.last(), read, batch);
      } catch (LogException.Fenced fenced) {
        forgetLost();
        throw fenced;
      }
      return stored(progress, batch, appended).join();
    }

    @Override
    public CompletionStage<Position> writeLater(WriterProgress progress, List<NewEvent> batch) {
      return all.scripts
          .appendLater(stream, owner, progress, news(), batch)
          .thenCompose(appended -> stored(progress, batch, appended));
    }

    /** A reader here that is not known yet has no news, but must not lose events. */
    private String news() {
      String news = window.takeNews();
      return news.equals("-") && all.watchers.isWatched(keptIn) ? "" : news;
    }

    /** Delivers what was stored. Completes with the last position when the writer may continue. */
    private CompletableFuture<Position> stored(
        WriterProgress progress, List<NewEvent> batch, AppendScripts.Appended appended) {
      Position last = appended.last();
      if (appended.remoteRead() != null) {
        window.connectRemote(appended.remoteRead());
      } else {
        window.disconnect(ReaderWindow.REMOTE);
        if (all.watchers.isWatched(keptIn)) {
          Position kept = appended.lastKept();
          window.expect(new Position(kept.millis(), Math.max(0, kept.number() - batch.size())));
        }
      }
      window.wrote(appended.lastKept(), NewEvent.bytes(batch));
      CompletableFuture<?> mayContinue = CompletableFuture.completedFuture(null);
      recent.setKept(all.isWanted(stream));
      if (batch.isEmpty()) {
        recent.reported(last);
        all.watchers.wake(keptIn);
      } else {
        List<LogEvent> events = LogEvent.of(batch, last, true);
        recent.addStored(events);
        if (all.watchers.deliver(stream, keptIn, progress.last(), events)) {
          recent.delivered(last);
        }
        boolean isShared = !keptIn.equals(stream);
        boolean isNew = isShared || progress.last().number() == 0;
        boolean isComplete = !isShared && batch.getLast().last();
        Reader reader = isComplete && window.isFollowedHere() ? Reader.FOLLOWS : Reader.NONE;
        mayContinue = all.reports.written(keptIn, batch, isNew, isComplete, reader);
      }
      all.forgetIfIdle(stream);
      return mayContinue.thenApply(_ -> last);
    }

    @Override
    public boolean deliverUnlogged(List<LogEvent> events) {
      boolean delivered = all.watchers.isWatched(stream) && recent.addUnlogged(events);
      if (delivered) {
        all.watchers.wake(stream);
      }
      return delivered;
    }

    @Override
    public void recordUpstreamCursor(long number, String upstreamId) {
      all.scripts.recordUpstreamCursor(stream, owner, number, upstreamId);
    }

    @Override
    public void release() {
      var _ = all.scripts.release(stream, owner).thenRun(this::forgetThis);
    }

    private void forgetThis() {
      all.remove(stream, owned -> owned.recent() == recent);
    }

    /** Drops the recent events, which are outdated, and makes the tail read from Redis. */
    private void forgetLost() {
      recent.setKept(false);
      forgetThis();
      all.watchers.wake(keptIn);
    }
  }
}
