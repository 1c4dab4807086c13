package dev.holdfast.upstream.http;

import static dev.holdfast.upstream.http.UpstreamFixture.event;
import static dev.holdfast.upstream.http.UpstreamFixture.notification;
import static dev.holdfast.upstream.http.UpstreamFixture.response;
import static dev.holdfast.upstream.http.UpstreamFixture.take;
import static dev.holdfast.upstream.http.UpstreamFixture.takeAll;
import static dev.holdfast.upstream.http.UpstreamFixture.texts;
import static dev.holdfast.upstream.http.UpstreamFixture.timeouts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.ScriptedServer;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import java.lang.ref.WeakReference;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Streams over a single connection. */
class SseMessageSourceTest {

  private static final Duration SHORT = Duration.ofMillis(200);
  private static final Duration LONG = Duration.ofSeconds(10);

  @RegisterExtension private final UpstreamFixture fixture = new UpstreamFixture();

  @Test
  void shouldReturnMessagesInOrderWithIds() {
    // given
    ScriptedServer server =
        fixture.server((request, wire) ->
            wire.beginEvents()
                .chunk("id: a-0\ndata:\n\n")
                .chunk(event(notification(1)))
                .chunk(event("a-2", notification(2)))
                .chunk(event(notification(3)))
                .chunk("event: message\n" + event("a-4", response(1)))
                .endChunks());

    // when
    List<UpstreamMessage> messages = takeAll(fixture.call(fixture.session(server)));

    // then
    assertThat(texts(messages))
        .containsExactly(notification(1), notification(2), notification(3), response(1));
    assertThat(messages)
        .extracting(UpstreamMessage::eventId)
        .containsExactly(null, "a-2", null, "a-4");
    assertThat(server.requests()).hasSize(1);
  }

  @Test
  void shouldReadChunksCutAnywhere() {
    // given
    String all =
        ":\n\n" + event("1", "{\"jsonrpc\":\"2.0\",\"method\":\"ä€😀\"}") + event(response(1));
    byte[] bytes = all.getBytes(StandardCharsets.UTF_8);
    ScriptedServer server =
        fixture.server((request, wire) -> {
          wire.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
          for (byte b : bytes) {
            wire.write(new byte[] {b});
          }
          wire.close();
        });

    // when
    List<UpstreamMessage> messages = takeAll(fixture.call(fixture.session(server)));

    // then
    assertThat(texts(messages))
        .containsExactly("{\"jsonrpc\":\"2.0\",\"method\":\"ä€😀\"}", response(1));
  }

  @Test
  void shouldPutEachMessageOnOneLine() {
    // given
    ScriptedServer server =
        fixture.server((request, wire) ->
            wire.beginEvents()
                .chunk("data: [{\"jsonrpc\":\"2.0\",\ndata: \"id\":1,\"result\":{}}]\n\n")
                .endChunks());

    // when
    List<UpstreamMessage> messages = takeAll(fixture.call(fixture.session(server)));

    // then
    assertThat(texts(messages)).containsExactly("[{\"jsonrpc\":\"2.0\", \"id\":1,\"result\":{}}]");
  }

  @Test
  void shouldIgnoreEventsOfOtherTypes() {
    // given
    ScriptedServer server =
        fixture.server((request, wire) ->
            wire.beginEvents()
                .chunk("event: ping\ndata: now\n\n")
                .chunk(event(response(1)))
                .endChunks());

    // when, then
    assertThat(texts(takeAll(fixture.call(fixture.session(server))))).containsExactly(response(1));
  }

  @Test
  void shouldNotKeepTheMessagesItReturnedWhileItWaitsWithoutThread() {
    assertForgottenDuring(source -> assertThat(source.whenArrived(() -> {})).isTrue());
  }

  @Test
  void shouldNotKeepTheMessagesItReturnedWhileItWaits() {
    assertForgottenDuring(source -> Thread.startVirtualThread(source::take));
  }

  private void assertForgottenDuring(Consumer<MessageSource> wait) {
    // given
    ScriptedServer server =
        fixture.server((request, wire) -> wire.beginEvents().chunk(event(notification(1))));
    MessageSource source = fixture.call(fixture.session(server));

    // when
    WeakReference<byte[]> returned = new WeakReference<>(source.take().getFirst().payload());
    wait.accept(source);

    // then
    await()
        .untilAsserted(() -> {
          System.gc();
          assertThat(returned.get()).isNull();
        });
    source.close();
  }

  @Test
  void shouldReturnEachMessageAtOnce() {
    // given
    CountDownLatch taken = new CountDownLatch(1);
    ScriptedServer server =
        fixture.server((request, wire) -> {
          wire.beginEvents().chunk(event(notification(1)));
          taken.await();
          wire.chunk(event(response(1))).endChunks();
        });
    MessageSource source = fixture.call(fixture.session(server));

    // when
    assertThat(texts(source.take())).containsExactly(notification(1));
    taken.countDown();

    // then
    assertThat(texts(takeAll(source))).containsExactly(response(1));
  }

  @Test
  void whenClosedInOrderWithoutIdsShouldEnd() {
    // given
    ScriptedServer server =
        fixture.server(
            (request, wire) -> wire.beginEvents().chunk(event(notification(1))).endChunks());

    // when, then
    assertThat(texts(takeAll(fixture.call(fixture.session(server)))))
        .containsExactly(notification(1));
    assertThat(server.requests()).hasSize(1);
  }

  @Test
  void whenBrokenWithoutIdsShouldReturnMessagesAndFail() {
    // given
    CountDownLatch taken = new CountDownLatch(1);
    ScriptedServer server =
        fixture.server((request, wire) -> {
          wire.beginEvents().chunk(event(notification(1)) + "data: {\"jso");
          taken.await();
          wire.reset();
        });
    MessageSource source = fixture.call(fixture.session(server));
    assertThat(texts(source.take())).containsExactly(notification(1));

    // when
    taken.countDown();

    // then
    assertThatThrownBy(source::take).isInstanceOf(UpstreamException.Broken.class);
    assertThat(source.take()).isEmpty();
    assertThat(server.requests()).hasSize(1);
  }

  @Test
  void whenBrokenWhilePausedShouldReturnAllMessages() {
    // given a break while the sender is paused
    int count = 2_400;
    String filler = " ".repeat(80);
    CountDownLatch written = new CountDownLatch(1);
    ScriptedServer server =
        fixture.server((request, wire) -> {
          wire.beginEvents();
          for (int i = 0; i < count; i++) {
            wire.chunk(event(notification(i) + filler));
          }
          wire.close();
          written.countDown();
        });
    MessageSource source = fixture.call(fixture.session(server));
    await().until(() -> written.getCount() == 0);

    // when
    List<UpstreamMessage> messages = take(source, count);

    // then
    assertThat(messages).hasSize(count);
    assertThatThrownBy(source::take).isInstanceOf(UpstreamException.Broken.class);
  }

  @Test
  void whenSilentTooLongShouldTimeOutAndDisconnect() {
    // given
    ScriptedServer server =
        fixture.server(
            (request, wire) -> wire.beginEvents().chunk(event("1", notification(1))).stall());
    MessageSource source = fixture.call(fixture.session(server, timeouts(LONG, SHORT)));
    take(source, 1);

    // when, then
    assertThatThrownBy(source::take).isInstanceOf(UpstreamException.TimedOut.class);
    assertThat(source.take()).isEmpty();
    await().until(() -> server.connections() == 0);
  }

  /** The deadline stays the same when a thread continues the wait. */
  @Test
  void whenSilentTooLongWithoutReadingThreadShouldTimeOut() throws InterruptedException {
    // given
    ScriptedServer server =
        fixture.server(
            (request, wire) -> wire.beginEvents().chunk(event("1", notification(1))).stall());
    MessageSource source = fixture.call(fixture.session(server, timeouts(LONG, SHORT)));
    take(source, 1);

    // when
    CountDownLatch over = new CountDownLatch(1);
    assertThat(source.whenArrived(over::countDown)).isTrue();
    over.await();

    // then
    assertThat(source.takeArrived()).isEmpty();
    assertThat(source.whenArrived(over::countDown)).isFalse();
    assertThatThrownBy(source::take).isInstanceOf(UpstreamException.TimedOut.class);
  }

  /** It would take the thread of other connections for too long. */
  @Test
  void shouldLeaveLargeMessageToReadingThread() throws InterruptedException {
    // given a message in small pieces
    String large = "{\"jsonrpc\":\"2.0\",\"method\":\"" + "x".repeat(40_000) + "\"}";
    Semaphore pieces = new Semaphore(0);
    ScriptedServer server =
        fixture.server((request, wire) -> {
          wire.beginEvents();
          byte[] bytes = event(large).getBytes(StandardCharsets.UTF_8);
          for (int from = 0; from < bytes.length; from += 1000) {
            pieces.acquire();
            wire.chunk(
                new String(
                    bytes, from, Math.min(1000, bytes.length - from), StandardCharsets.UTF_8));
          }
          wire.stall();
        });
    MessageSource source = fixture.call(fixture.session(server));

    // when
    int taken = 0;
    Semaphore arrived = new Semaphore(0);
    while (source.whenArrived(arrived::release)) {
      pieces.release();
      arrived.acquire();
      assertThat(source.takeArrived()).isEmpty();
      taken++;
    }
    pieces.release(100);

    // then
    assertThat(taken).isPositive();
    assertThat(texts(source.take())).containsExactly(large);
    source.close();
  }

  @Test
  void closeShouldEndWaitWithoutThread() {
    // given
    ScriptedServer server = fixture.server((request, wire) -> wire.beginEvents().stall());
    MessageSource source = fixture.call(fixture.session(server));
    CountDownLatch over = new CountDownLatch(1);
    assertThat(source.whenArrived(over::countDown)).isTrue();

    // when
    source.close();

    // then
    assertThat(over.getCount()).isZero();
    assertThat(source.takeArrived()).isEmpty();
    assertThat(source.whenArrived(over::countDown)).isFalse();
    assertThat(source.take()).isEmpty();
  }

  @Test
  void commentsShouldKeepStreamAlive() {
    // given comments for longer than the idle timeout, which a slow machine must not reach
    Duration idle = Duration.ofSeconds(2);
    ScriptedServer server =
        fixture.server((request, wire) -> {
          wire.beginEvents();
          long start = System.nanoTime();
          while (System.nanoTime() - start < idle.multipliedBy(2).toNanos()) {
            wire.chunk(":\n\n");
            Thread.onSpinWait();
          }
          wire.chunk(event(response(1))).endChunks();
        });

    // when
    MessageSource source = fixture.call(fixture.session(server, timeouts(LONG, idle)));

    // then
    assertThat(texts(takeAll(source))).containsExactly(response(1));
  }

  @Test
  void endlessLineShouldBeBroken() {
    // given
    ScriptedServer server =
        fixture.server((request, wire) -> {
          wire.beginEvents().chunk(event(notification(1))).chunk("data: ");
          while (true) {
            wire.chunk("x".repeat(8192));
          }
        });
    MessageSource source = fixture.call(fixture.session(server));

    // when
    List<UpstreamMessage> first = take(source, 1);

    // then
    assertThat(texts(first)).containsExactly(notification(1));
    assertThatThrownBy(() -> takeAll(source))
        .isInstanceOf(UpstreamException.Broken.class)
        .hasMessageContaining("too large");
    await().until(() -> server.connections() == 0);
  }

  @Test
  void endlessEventShouldBeBroken() {
    // given
    ScriptedServer server =
        fixture.server((request, wire) -> {
          wire.beginEvents();
          while (true) {
            wire.chunk("data: " + "x".repeat(1000) + "\n");
          }
        });
    MessageSource source = fixture.call(fixture.session(server));

    // when, then
    assertThatThrownBy(() -> takeAll(source))
        .isInstanceOf(UpstreamException.Broken.class)
        .hasMessageContaining("too large");
  }

  @Test
  void whenNobodyReadsShouldHoldServerBack() {
    // given a server that writes as fast as it can, and no reader
    String piece = event("{\"jsonrpc\":\"2.0\",\"method\":\"" + "x".repeat(8_000) + "\"}");
    AtomicLong written = new AtomicLong();
    long flood = 256L << 20;
    ScriptedServer server =
        fixture.server((request, wire) -> {
          wire.beginEvents();
          while (written.get() < flood) {
            wire.chunk(piece);
            written.addAndGet(piece.length());
          }
          wire.chunk(event(response(1))).endChunks();
        });

    // when
    MessageSource source = fixture.call(fixture.session(server));

    // then its writes block long before the end
    AtomicLong before = new AtomicLong(-1);
    await()
        .pollInterval(Duration.ofMillis(300))
        .until(() -> written.get() > 0 && before.getAndSet(written.get()) == written.get());
    assertThat(written.get()).isLessThan(flood / 4);
    // and continue once there is a reader
    assertThat(takeAll(source)).hasSize((int) (flood / piece.length()) + 2);
  }

  @Test
  void closeShouldWakeReader() {
    // given
    ScriptedServer server = fixture.server((request, wire) -> wire.beginEvents().stall());
    MessageSource source = fixture.call(fixture.session(server));
    CompletableFuture<List<UpstreamMessage>> taking = CompletableFuture.supplyAsync(source::take);

    // when
    source.close();

    // then
    assertThat(taking).succeedsWithin(LONG).isEqualTo(List.of());
    await().until(() -> server.connections() == 0);
    assertThat(source.take()).isEmpty();
  }

  @Test
  void interruptShouldWakeReaderAndDisconnect() throws Exception {
    // given
    ScriptedServer server = fixture.server((request, wire) -> wire.beginEvents().stall());
    MessageSource source = fixture.call(fixture.session(server));
    CompletableFuture<Boolean> flag = new CompletableFuture<>();
    Thread taker =
        Thread.ofVirtual()
            .start(() -> {
              try {
                source.take();
              } catch (UpstreamException.Broken e) {
                flag.complete(Thread.currentThread().isInterrupted());
              }
            });

    // when
    taker.interrupt();

    // then
    assertThat(flag).succeedsWithin(LONG).isEqualTo(true);
    await().until(() -> server.connections() == 0);
  }
}
