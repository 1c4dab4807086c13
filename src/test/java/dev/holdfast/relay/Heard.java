package dev.holdfast.relay;

import dev.holdfast.upstream.UpstreamException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** Remembers what a listener is told. */
final class Heard implements RelayListener {

  final AtomicInteger sessions = new AtomicInteger();
  final AtomicInteger ended = new AtomicInteger();
  final AtomicInteger connections = new AtomicInteger();
  final AtomicInteger appended = new AtomicInteger();
  final AtomicInteger passed = new AtomicInteger();
  final AtomicInteger delivered = new AtomicInteger();
  final AtomicInteger resumptions = new AtomicInteger();
  final AtomicInteger lost = new AtomicInteger();
  final AtomicInteger gaps = new AtomicInteger();
  final List<Duration> lifetimes = new CopyOnWriteArrayList<>();
  final List<MessageKind> fromClient = new CopyOnWriteArrayList<>();
  final List<MessageKind> fromUpstream = new CopyOnWriteArrayList<>();
  final List<Integer> replays = new CopyOnWriteArrayList<>();
  final List<UpstreamException> failures = new CopyOnWriteArrayList<>();

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
  public void passed(int events) {
    passed.addAndGet(events);
  }

  @Override
  public void delivered(int events) {
    delivered.addAndGet(events);
  }

  @Override
  public void replayed(int events, Duration took) {
    replays.add(events);
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
  public void upstreamFailed(UpstreamException failure) {
    failures.add(failure);
  }
}
