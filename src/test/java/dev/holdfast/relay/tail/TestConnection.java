package dev.holdfast.relay.tail;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;

/** A client that records what it gets, and reads, stalls or leaves as a test wants. */
public final class TestConnection implements ClientConnection {

  private static final Pattern EVENT = Pattern.compile("(?m)^id: (\\S+)\\n(?:data: (.+)\\n)");

  /** Its own methods are synchronized. */
  private final ByteArrayOutputStream received = new ByteArrayOutputStream();

  private final CompletableFuture<Void> gone = new CompletableFuture<>();
  private final CountDownLatch ended = new CountDownLatch(1);
  private final CountDownLatch aborted = new CountDownLatch(1);
  private final Semaphore room = new Semaphore(Integer.MAX_VALUE / 2);
  private final Semaphore waiting = new Semaphore(0);

  private final CountDownLatch refused = new CountDownLatch(1);
  private final AtomicLong held = new AtomicLong();
  private final AtomicLong mostHeld = new AtomicLong();
  private volatile boolean refuses;

  private volatile boolean losesEnd;

  /** Owned by the thread that writes. */
  private byte[] written = {};

  /** Runs while the server writes. */
  volatile Runnable onWrite = () -> {};

  /** An event as a client sees it. */
  public record Event(String id, String data) {}

  /** Refuses the bytes of large events, as when too many wait for slow clients. */
  void refuseLargeEvents() {
    refuses = true;
  }

  /** Waits until a large event was refused, and allows all later ones. */
  void awaitRefusalAndAllow() throws InterruptedException {
    refused.await();
    refuses = false;
  }

  @Override
  public boolean tryHold(long bytes) {
    if (refuses) {
      refused.countDown();
      return false;
    }
    long now = held.addAndGet(bytes);
    mostHeld.accumulateAndGet(now, Math::max);
    return true;
  }

  @Override
  public void giveBack() {
    held.set(0);
  }

  /** The most bytes that were held for large events at a time. */
  long mostHeld() {
    return mostHeld.get();
  }

  /** The bytes that are held for large events. */
  long held() {
    return held.get();
  }

  @Override
  public void write(byte[] bytes) throws ClientGoneException {
    requireThere();
    written = bytes;
    waiting.release();
  }

  @Override
  public boolean awaitTaken(Duration most) throws ClientGoneException {
    try {
      if (!room.tryAcquire(most.toNanos(), TimeUnit.NANOSECONDS)) {
        return false;
      }
    } catch (InterruptedException e) {
      throw new ClientGoneException(e);
    }
    requireThere();
    received.writeBytes(written);
    onWrite.run();
    return true;
  }

  private void requireThere() throws ClientGoneException {
    if (gone.isDone()) {
      throw new ClientGoneException(null);
    }
  }

  @Override
  public void abort() {
    aborted.countDown();
    leave();
  }

  @Override
  public void onGone(Runnable listener) {
    CompletableFuture<Void> _ = gone.thenRun(listener);
  }

  @Override
  public void end(byte[] last) throws ClientGoneException {
    write(last);
    if (!losesEnd) {
      boolean _ = awaitTaken(Duration.ofDays(1));
    }
    end();
  }

  @Override
  public void end() {
    ended.countDown();
  }

  /** Stops reading: the next write waits. */
  TestConnection stall() {
    int _ = room.drainPermits();
    return this;
  }

  /** Does not get the end of its response, and no writer learns that. */
  TestConnection loseEnd() {
    losesEnd = true;
    return this;
  }

  /** Reads again. */
  void read() {
    room.release(Integer.MAX_VALUE / 2);
  }

  /** Waits for a write since the last call. */
  void awaitWrite() {
    try {
      assertThat(waiting.tryAcquire(20, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    int _ = waiting.drainPermits();
  }

  /** Disconnects; a write in progress fails. */
  public void leave() {
    gone.complete(null);
    read();
  }

  public boolean hasEnded() {
    return ended.getCount() == 0;
  }

  /** Reads some chunks of any size. */
  void take(int pieces) {
    room.release(pieces);
  }

  /** Whether the server reset the connection. */
  boolean wasAborted() {
    return aborted.getCount() == 0;
  }

  /** Everything that was received. The delay of the first frame, which is random, is 5000. */
  public String text() {
    return received.toString(UTF_8).replaceFirst("^(id: .*\\nretry: )[56]\\d{3}\\n", "$15000\n");
  }

  /** The events with data. */
  public List<Event> events() {
    return EVENT
        .matcher(text())
        .results()
        .map(match -> new Event(match.group(1), match.group(2)))
        .toList();
  }

  /** The data of the events. */
  public List<String> data() {
    return events().stream().map(Event::data).toList();
  }

  /** The newest event id, including that of an event without data. */
  public String lastId() {
    return text().lines().filter(line -> line.startsWith("id: ")).toList().getLast().substring(4);
  }

  public void await(Predicate<TestConnection> condition) {
    Awaitility.await().until(() -> condition.test(this));
  }

  public void awaitEnd() {
    Awaitility.await().until(this::hasEnded);
  }
}
