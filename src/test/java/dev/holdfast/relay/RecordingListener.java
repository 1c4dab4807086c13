package dev.holdfast.relay;

import dev.holdfast.relay.stream.RelayListener;
import dev.holdfast.relay.stream.RelayListener.MessageKind;
import dev.holdfast.relay.stream.StreamListener;
import dev.holdfast.upstream.UpstreamException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** Records all calls. */
public final class RecordingListener implements RelayListener, StreamListener {

  public final AtomicInteger sessions = new AtomicInteger();
  public final AtomicInteger ended = new AtomicInteger();
  public final AtomicInteger connections = new AtomicInteger();
  public final AtomicInteger appended = new AtomicInteger();
  public final AtomicInteger unlogged = new AtomicInteger();
  public final AtomicInteger delivered = new AtomicInteger();
  public final AtomicInteger resumptions = new AtomicInteger();
  public final AtomicInteger lost = new AtomicInteger();
  public final AtomicInteger gaps = new AtomicInteger();
  public final AtomicInteger heldBack = new AtomicInteger();
  public final List<Duration> lifetimes = new CopyOnWriteArrayList<>();
  final List<MessageKind> fromClient = new CopyOnWriteArrayList<>();
  final List<MessageKind> fromUpstream = new CopyOnWriteArrayList<>();
  public final List<Duration> delays = new CopyOnWriteArrayList<>();
  public final List<Integer> replays = new CopyOnWriteArrayList<>();
  public final List<Result> results = new CopyOnWriteArrayList<>();
  public final List<UpstreamException> failures = new CopyOnWriteArrayList<>();

  @Override
  public void sessionOpened() {
    sessions.incrementAndGet();
  }

  @Override
  public void sessionEnded(Duration lived) {
    ended.incrementAndGet();
    lifetimes.add(lived);
  }

  @Override
  public void fromClient(MessageKind kind) {
    fromClient.add(kind);
  }

  @Override
  public void fromUpstream(MessageKind kind) {
    fromUpstream.add(kind);
  }

  @Override
  public void result(Result result) {
    results.add(result);
  }

  @Override
  public void heldBack(boolean waits) {
    heldBack.addAndGet(waits ? 1 : 0);
  }

  @Override
  public void connectionOpened() {
    connections.incrementAndGet();
  }

  @Override
  public void connectionClosed() {
    connections.decrementAndGet();
  }

  @Override
  public void appended(int events, Duration took) {
    appended.addAndGet(events);
  }

  @Override
  public void deliveredUnlogged(int events) {
    unlogged.addAndGet(events);
  }

  @Override
  public void delivered(int events) {
    delivered.addAndGet(events);
  }

  @Override
  public void deliveredLive(Duration delay) {
    delays.add(delay);
  }

  @Override
  public void replayed(int events, Duration took) {
    replays.add(events);
  }

  @Override
  public StreamListener streamsOf(String upstream) {
    return this;
  }

  @Override
  public void gap() {
    gaps.incrementAndGet();
  }

  @Override
  public void takenOver(boolean resumed) {
    (resumed ? resumptions : lost).incrementAndGet();
  }

  @Override
  public void upstreamFailed(String upstream, UpstreamException failure) {
    failures.add(failure);
  }
}
