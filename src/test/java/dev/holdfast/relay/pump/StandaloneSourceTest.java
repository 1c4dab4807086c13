package dev.holdfast.relay.pump;

import static dev.holdfast.relay.pump.PumpFixture.PROGRESS;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.relay.RecordingListener;
import dev.holdfast.relay.ScriptedSource;
import dev.holdfast.retry.Backoff;
import dev.holdfast.testing.LoggedLines;
import dev.holdfast.upstream.ForwardingSource;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamMessage;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A session has one standalone stream and one pump for it. The pump once ended at the first
 * failure, and the session got no further messages outside of requests.
 */
@Timeout(30)
class StandaloneSourceTest {

  private static final Backoff SHORT = new Backoff(Duration.ofMillis(1), Duration.ofMillis(2));

  private final RecordingListener heard = new RecordingListener();
  private final AtomicInteger opened = new AtomicInteger();
  private final AtomicInteger gone = new AtomicInteger();
  private final AtomicInteger noStream = new AtomicInteger();
  private final List<String> openedAfter = new CopyOnWriteArrayList<>();
  private final Queue<Supplier<Optional<MessageSource>>> answers = new ArrayDeque<>();

  private StandaloneSource source(Backoff backoff) {
    return new StandaloneSource(
        after -> {
          opened.incrementAndGet();
          openedAfter.add(String.valueOf(after));
          return answers.remove().get();
        },
        "u0",
        failure -> heard.upstreamFailed("test", failure),
        backoff,
        gone::incrementAndGet,
        noStream::incrementAndGet);
  }

  private void answer(MessageSource source) {
    answers.add(() -> Optional.of(source));
  }

  private void answer(UpstreamException failure) {
    answers.add(() -> {
      throw failure;
    });
  }

  @Test
  void shouldRetryUntilTheServerIsReachable() {
    answer(new UpstreamException.Unreachable(null));
    answer(new UpstreamException.Refused(503, null, null));
    answer(new UpstreamException.TimedOut("a stream"));
    answer(new ScriptedSource().bring(PROGRESS));

    try (StandaloneSource source = source(SHORT)) {
      assertThat(source.take()).hasSize(1);
    }

    assertThat(heard.failures).hasSize(3);
  }

  /** Some servers send no response head before their first event. */
  @Test
  void shouldEndTheWaitForTheHeadWhenClosed() throws InterruptedException {
    CountDownLatch asked = new CountDownLatch(1);
    answers.add(() -> {
      asked.countDown();
      try {
        new CountDownLatch(1).await();
      } catch (InterruptedException stopped) {
        Thread.currentThread().interrupt();
      }
      throw new UpstreamException.Broken("the wait was ended", null);
    });
    StandaloneSource source = source(SHORT);
    List<Integer> taken = new CopyOnWriteArrayList<>();
    Thread reader = Thread.ofVirtual().start(() -> taken.add(source.take().size()));
    asked.await();

    source.close();
    reader.join();

    assertThat(taken).containsExactly(0);
    assertThat(heard.failures).isEmpty();
  }

  @Test
  void shouldReopenAfterABreak() {
    answer(new ScriptedSource().bring(PROGRESS).fail(new UpstreamException.Broken("cut", null)));
    answer(new ScriptedSource().bring(PROGRESS).end());

    StandaloneSource source = source(SHORT);

    assertThat(source.take()).hasSize(1);
    assertThat(source.take()).hasSize(1);
    assertThat(source.take()).isEmpty();
    source.close();
  }

  /** No pump would ever open the session's only standalone stream again. */
  @Test
  void shouldReopenAfterAnUnexpectedFailure() {
    try (LoggedLines log = new LoggedLines("dev.holdfast")) {
      answer(new ScriptedSource().fail(new OutOfMemoryError("planted")));
      answer(new ScriptedSource().fail(new IllegalStateException("a bug")));
      answer(new ScriptedSource().bring(PROGRESS));

      try (StandaloneSource source = source(SHORT)) {
        assertThat(source.take()).hasSize(1);
      }

      assertThat(heard.failures).hasSize(2);
      log.await("standalone stream failed unexpectedly");
    }
  }

  /** The same for a failure on a thread that must not be blocked. */
  @Test
  void shouldReopenAfterAnUnexpectedFailureWithoutAReadingThread() {
    ScriptedSource failing = new ScriptedSource().telling();
    answer(
        new ForwardingSource(failing) {
          @Override
          public List<UpstreamMessage> takeArrived() {
            throw new OutOfMemoryError("planted");
          }
        });
    answer(new ScriptedSource().bring(PROGRESS));
    CountDownLatch arrived = new CountDownLatch(1);

    try (StandaloneSource source = source(SHORT)) {
      assertThat(source.whenArrived(arrived::countDown)).isTrue();
      failing.bring(PROGRESS);
      assertThat(arrived.getCount()).isZero();
      assertThat(source.takeArrived()).isEmpty();
      assertThat(source.whenArrived(arrived::countDown)).isFalse();
      assertThat(opened).hasValue(1);
      assertThat(source.take()).hasSize(1);
    }

    assertThat(failing.isClosed()).isTrue();
    assertThat(heard.failures).hasSize(1);
  }

  /** The first wait opens the stream, so that no thread is left waiting for messages. */
  @Test
  void shouldOpenTheStreamBeforeItWaits() {
    ScriptedSource server = new ScriptedSource().telling();
    answer(server);

    try (StandaloneSource source = source(SHORT)) {
      assertThat(source.whenArrived(() -> {})).isTrue();
      assertThat(opened).hasValue(1);
      server.bring(new UpstreamMessage(PROGRESS.getBytes(UTF_8), "u7"));
      assertThat(source.takeArrived()).hasSize(1);
      server.end();
      assertThat(source.whenArrived(() -> {})).isFalse();
      assertThat(source.take()).isEmpty();
    }

    assertThat(opened).hasValue(1);
  }

  @Test
  void shouldRetryWhatFailsBeforeItWaits() {
    answer(new UpstreamException.Unreachable(null));
    answer(new ScriptedSource().bring(PROGRESS));

    try (StandaloneSource source = source(SHORT)) {
      assertThat(source.whenArrived(() -> {})).isFalse();
      assertThat(source.take()).hasSize(1);
    }

    assertThat(heard.failures).hasSize(1);
  }

  @Test
  void shouldAskOnceForAStreamThatTheServerDoesNotOffer() {
    answers.add(Optional::empty);

    try (StandaloneSource source = source(SHORT)) {
      assertThat(source.whenArrived(() -> {})).isFalse();
      assertThat(source.take()).isEmpty();
    }

    assertThat(opened).hasValue(1);
  }

  @Test
  void shouldEndWhenTheServerOffersNoStream() {
    answers.add(Optional::empty);

    try (StandaloneSource source = source(SHORT)) {
      assertThat(source.take()).isEmpty();
      assertThat(source.take()).isEmpty();
    }

    assertThat(opened).hasValue(1);
    assertThat(noStream).hasValue(1);
  }

  @Test
  void shouldEndWithTheSession() {
    answer(new UpstreamException.SessionGone());

    try (StandaloneSource source = source(SHORT)) {
      assertThatThrownBy(source::take).isInstanceOf(UpstreamException.SessionGone.class);
    }

    assertThat(gone).hasValue(1);
  }

  /** Otherwise the server would repeat events that are in the log. */
  @Test
  void shouldResumeAfterTheNewestEventWithAnId() {
    answer(
        new ScriptedSource()
            .bring(new UpstreamMessage(PROGRESS.getBytes(UTF_8), "u1"))
            .bring(PROGRESS)
            .fail(new UpstreamException.Broken("test", null)));
    answer(new ScriptedSource().bring(PROGRESS));

    try (StandaloneSource source = source(SHORT)) {
      source.take();
      source.take();
      source.take();
    }

    assertThat(openedAfter).containsExactly("u0", "u1");
  }

  @ParameterizedTest
  @ValueSource(ints = {400, 401, 403, 404, 406})
  void shouldGiveUpAfterAFinalRefusal(int status) {
    answer(new UpstreamException.Refused(status, null, null));

    try (StandaloneSource source = source(SHORT)) {
      assertThatThrownBy(source::take).isInstanceOf(UpstreamException.Refused.class);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {408, 409, 429, 500, 502})
  void shouldRetryAfterATemporaryRefusal(int status) {
    answer(new UpstreamException.Refused(status, null, null));
    answer(new ScriptedSource().bring(PROGRESS));

    try (StandaloneSource source = source(SHORT)) {
      assertThat(source.take()).hasSize(1);
    }
  }

  @Test
  void shouldStopWaitingWhenClosed() throws InterruptedException {
    answer(new UpstreamException.Unreachable(null));
    Duration forever = Duration.ofDays(1);
    StandaloneSource source = source(new Backoff(forever, forever));
    Thread reader = Thread.ofVirtual().start(() -> assertThat(source.take()).isEmpty());
    await().until(() -> heard.failures.size() == 1);

    source.close();

    assertThat(reader.join(Duration.ofSeconds(10))).isTrue();
    assertThat(opened).hasValue(1);
  }

  @Test
  void shouldCloseAStreamThatOpensAfterTheClose() {
    ScriptedSource late = new ScriptedSource();
    StandaloneSource[] source = new StandaloneSource[1];
    answers.add(() -> {
      source[0].close();
      return Optional.of(late);
    });
    source[0] = source(SHORT);

    assertThat(source[0].take()).isEmpty();

    assertThat(late.isClosed()).isTrue();
    assertThat(noStream).hasValue(0);
  }
}
