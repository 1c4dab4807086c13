package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.LoggedLines;
import dev.holdfast.testing.RedisFixture;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.RedisOptions;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RedisClientIT {

  private static final Duration TIMEOUT = Duration.ofSeconds(1);

  private final Vertx vertx = Vertx.vertx();

  @SuppressWarnings("NullAway.Init")
  private RedisFixture redis;

  @SuppressWarnings("NullAway.Init")
  private RedisClient link;

  private final Exchanges exchanges = new Exchanges();

  /** Counts exchanges. */
  private static final class Exchanges implements RedisClient.Listener {
    private final AtomicInteger answered = new AtomicInteger();
    private final AtomicInteger unanswered = new AtomicInteger();

    @Override
    public void answered(long nanos) {
      assertThat(nanos).isPositive();
      answered.incrementAndGet();
    }

    @Override
    public void unanswered() {
      unanswered.incrementAndGet();
    }
  }

  @BeforeEach
  void start() {
    redis = RedisFixture.start();
    RedisOptions options = new RedisOptions().setConnectionString(redis.url());
    link = RedisClientFactory.create(vertx, () -> options, TIMEOUT, exchanges);
  }

  @AfterEach
  void stop() {
    link.close();
    redis.close();
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }

  private static Request echo(int number) {
    return Request.cmd(Command.ECHO).arg(number);
  }

  private static String text(@Nullable Response reply) {
    return Objects.requireNonNull(reply).toString();
  }

  @Test
  void shouldGiveEachCallerItsOwnReply() throws Exception {
    int callers = 3 * RedisClient.MAX_PENDING;

    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<String>> replies =
          IntStream.range(0, callers)
              .mapToObj(i -> executor.submit(() -> text(link.send(echo(i)))))
              .toList();

      for (int i = 0; i < callers; i++) {
        assertThat(replies.get(i).get()).isEqualTo(Integer.toString(i));
      }
    }
    assertThat(connections()).isEqualTo(1);
  }

  @Test
  void shouldTellOfEveryExchange() {
    link.send(echo(1));
    link.sendAll(List.of(echo(2), echo(3)));
    // To refuse is to answer.
    Request unknown = Request.cmd(Command.EVALSHA).arg("nosuchscript").arg(0);
    assertThat(catchThrowable(() -> link.send(unknown)))
        .isInstanceOf(RedisException.Unavailable.class);

    await().until(() -> exchanges.answered.get() == 3);
    assertThat(exchanges.unanswered).hasValue(0);

    redis.freeze();
    assertThat(catchThrowable(() -> link.send(echo(4)))).isInstanceOf(RedisException.class);
    redis.thaw();

    await().until(() -> exchanges.unanswered.get() == 1);
    assertThat(exchanges.answered).hasValue(3);
  }

  /** After a pause of the process, answers wait in the socket. */
  @Test
  void shouldReadWhatHasArrivedBeforeItTakesRedisForSilent() {
    assertThat(text(link.send(echo(0)))).isEqualTo("0");
    CompletableFuture<Void> paused = new CompletableFuture<>();
    var _ =
        link.sendLater(echo(1))
            .thenAccept(_ -> {
              paused.complete(null);
              LockSupport.parkNanos(TIMEOUT.multipliedBy(3).toNanos());
            });
    paused.join();
    CompletionStage<@Nullable Response> later = link.sendLater(echo(2));

    assertThat(text(link.send(echo(3)))).isEqualTo("3");
    assertThat(text(later.toCompletableFuture().join())).isEqualTo("2");
    assertThat(connections()).isEqualTo(1);
  }

  private long connections() {
    Response list = link.send(Request.cmd(Command.CLIENT).arg("LIST"));
    return text(list).lines().count();
  }

  @Test
  void shouldReplyToAllInOrder() {
    List<Request> requests = new ArrayList<>(List.of(echo(1), echo(2)));
    requests.add(Request.cmd(Command.GET).arg("nothing"));

    List<@Nullable Response> replies = link.sendAll(requests);

    assertThat(text(replies.get(0))).isEqualTo("1");
    assertThat(text(replies.get(1))).isEqualTo("2");
    assertThat(replies.get(2)).isNull();
  }

  @Test
  void shouldSayThatRedisRefused() {
    Request wrong = Request.cmd(Command.EVAL).arg("return redis.error_reply('OOM no')").arg(0);

    assertThatExceptionOfType(RedisException.Unavailable.class)
        .isThrownBy(() -> link.send(wrong))
        .withMessageContaining("OOM no");
    assertThatExceptionOfType(RedisException.Unavailable.class)
        .isThrownBy(() -> link.sendAll(List.of(echo(1), wrong)));
    assertThat(text(link.send(echo(1)))).isEqualTo("1");
  }

  @Test
  void shouldSayThatThereIsNoConnection() {
    redis.kill();

    assertThatExceptionOfType(RedisException.Unavailable.class)
        .isThrownBy(() -> link.send(echo(1)));
    assertThat(link.sendLater(echo(1)).toCompletableFuture()).isCompletedExceptionally();
  }

  @Test
  void shouldNotKnowTheOutcomeOfWhatWasNotAnswered() {
    link.send(echo(1));
    redis.freeze();

    Throwable failure = catchThrowable(() -> link.send(echo(2)));
    Throwable next = catchThrowable(() -> link.send(echo(3)));
    redis.thaw();

    assertThat(failure).isInstanceOf(RedisException.UnknownOutcome.class);
    // The frozen connection is gone, and a new one is not answered.
    assertThat(next).isInstanceOf(RedisException.Unavailable.class);
    await().ignoreExceptions().until(() -> text(link.send(echo(4))).equals("4"));
  }

  /** Otherwise each request waits for as long as Redis may be silent. */
  @Test
  void shouldFailFastWhileRedisCannotBeReached() {
    link.send(echo(1));
    redis.freeze();
    assertThat(catchThrowable(() -> link.send(echo(2)))).isInstanceOf(RedisException.class);
    assertThat(catchThrowable(() -> link.send(echo(3)))).isInstanceOf(RedisException.class);
    long start = System.nanoTime();

    for (int i = 0; i < 20; i++) {
      assertThat(catchThrowable(() -> link.send(echo(4))))
          .isInstanceOf(RedisException.Unavailable.class);
    }

    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(TIMEOUT.multipliedBy(10));
    redis.thaw();
    await().ignoreExceptions().until(() -> text(link.send(echo(5))).equals("5"));
  }

  /** Small commands fit into a Redis at its limit; it is full all the same. */
  @Test
  void shouldSayThatRedisIsFull() {
    link.check("check");
    redis.command("CONFIG", "SET", "maxmemory", "1");
    Request large = Request.cmd(Command.SET).arg("k").arg("v");

    try (LoggedLines log = new LoggedLines(ServerClient.class)) {
      assertThat(catchThrowable(() -> link.send(large))).hasMessageContaining("OOM");
      assertThat(catchThrowable(() -> link.send(large))).hasMessageContaining("OOM");
      log.await("Redis is full reason=");
      assertThat(log.lines()).hasSize(1);
    }

    assertThat(catchThrowable(() -> link.check("check"))).hasMessageContaining("OOM");
    redis.command("CONFIG", "SET", "maxmemory", "0");
    assertThat(catchThrowable(() -> link.check("check"))).hasMessage("Redis is full");
    assertThat(link.send(large)).hasToString("OK");
  }

  @Test
  void shouldRefuseAfterItWasClosed() {
    link.send(echo(1));

    link.close();

    assertThatExceptionOfType(RedisException.Unavailable.class)
        .isThrownBy(() -> link.send(echo(2)));
  }
}
