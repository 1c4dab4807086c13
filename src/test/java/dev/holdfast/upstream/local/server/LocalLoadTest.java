package dev.holdfast.upstream.local.server;

import static dev.holdfast.upstream.local.server.LocalClient.drain;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.upstream.MessageQueue;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.local.Tool;
import dev.holdfast.upstream.local.ToolCall;
import dev.holdfast.upstream.local.ToolResult;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tools that send faster than their client reads, and tools that keep all processors busy. */
@Timeout(30)
class LocalLoadTest {

  private static final int CPU_THREADS = new ComputeQueue(0).threadsPerSession();

  private static final String CALL =
      """
      {"jsonrpc":"2.0","id":%d,"method":"tools/call",
       "params":{"name":"computes","_meta":{"x":"%s"}}}
      """;

  private final BlockingQueue<String> seen = new ArrayBlockingQueue<>(100);
  private final AtomicInteger sent = new AtomicInteger();
  private final AtomicReference<Thread> thread = new AtomicReference<>();
  private final AtomicInteger running = new AtomicInteger();
  private final AtomicInteger mostRunning = new AtomicInteger();
  private final CountDownLatch allBusy = new CountDownLatch(CPU_THREADS);
  private final CountDownLatch stop = new CountDownLatch(1);

  @RegisterExtension final LocalServer server = new LocalServer();

  private final LocalUpstream upstream =
      server.of(
          ScriptedTool.waiting("floods", this::floods),
          ScriptedTool.computing("computes", this::computes),
          ScriptedTool.computing("primes", _ -> ToolResult.text("prime")),
          ScriptedTool.waiting("quick", _ -> ToolResult.text("quick")));
  private final LocalClient client = LocalClient.open(upstream);

  @AfterEach
  void close() {
    stop.countDown();
  }

  private ToolResult floods(ToolCall call) {
    thread.set(Thread.currentThread());
    try {
      for (int i = 1; i <= 1000; i++) {
        call.progress(i, null, null);
        sent.set(i);
      }
    } catch (CancellationException e) {
      seen.add("cancelled");
      throw e;
    }
    return ToolResult.text("done");
  }

  private ToolResult computes(ToolCall call) {
    mostRunning.accumulateAndGet(running.incrementAndGet(), Math::max);
    allBusy.countDown();
    while (stop.getCount() > 0) {
      Thread.onSpinWait();
    }
    running.decrementAndGet();
    seen.add("computed");
    return ToolResult.text("virtual: " + Thread.currentThread().isVirtual());
  }

  @Test
  void shouldBlockTheToolWhileTheStreamIsFull() {
    // when
    MessageSource answer = client.callTool("1", "floods", "1");
    awaitFull();

    // then
    assertThat(sent).hasValue(MessageQueue.MAX_MESSAGES);
    assertThat(drain(answer)).hasSize(1001);
  }

  @Test
  void shouldCancelABlockedTool() throws Exception {
    // given
    MessageSource answer = client.callTool("1", "floods", "1");
    awaitFull();

    // when
    client.cancel("1");

    // then
    assertThat(seen.take()).isEqualTo("cancelled");
    assertThat(drain(answer)).hasSize(MessageQueue.MAX_MESSAGES);
  }

  @Test
  void shouldUnblockTheToolWhenTheServerCloses() throws Exception {
    // given
    client.callTool("1", "floods", "1");
    awaitFull();

    // when
    upstream.close();

    // then
    assertThat(seen.take()).isEqualTo("cancelled");
  }

  private void awaitFull() {
    await()
        .until(() ->
            sent.get() == MessageQueue.MAX_MESSAGES
                && thread.get().getState() == Thread.State.WAITING);
  }

  /** Starts calls that compute. Returns when they use all threads. */
  private List<MessageSource> compute(int calls) throws InterruptedException {
    List<MessageSource> answers =
        IntStream.range(0, calls)
            .mapToObj(id -> client.callTool(String.valueOf(id), "computes"))
            .toList();
    allBusy.await();
    return answers;
  }

  @Test
  void shouldComputeOnFewThreadsWithoutDelayingOtherCalls() throws Exception {
    // given
    List<MessageSource> answers = compute(CPU_THREADS + 1);

    // when
    List<String> quickly = drain(client.callTool("100", "quick"));
    stop.countDown();

    // then
    assertThat(quickly).singleElement().asString().contains("quick");
    assertThat(answers)
        .allSatisfy(answer ->
            assertThat(drain(answer)).singleElement().asString().contains("virtual: false"));
    assertThat(mostRunning).hasValue(CPU_THREADS);
  }

  /** The calls of one client filled all threads and a queue without bound. */
  @Test
  void sessionsShouldTakeTurnsAtComputing() throws Exception {
    // given
    List<MessageSource> busy = compute(CPU_THREADS + ComputeQueue.MAX_CALLS_PER_SESSION);

    // when
    MessageSource refused = client.callTool("1000", "computes");
    MessageSource other = LocalClient.open(upstream).callTool("1", "primes");

    // then
    assertThat(drain(refused)).singleElement().asString().contains("\"id\":1000", "try again");
    assertThat(drain(other)).singleElement().asString().contains("prime");
    assertThat(mostRunning).hasValue(CPU_THREADS);
    stop.countDown();
    assertThat(busy)
        .allSatisfy(
            answer -> assertThat(drain(answer)).singleElement().asString().contains("false"));
  }

  @Test
  void shouldBoundWaitingCallsInBytes() throws Exception {
    // given
    String large = "x".repeat((int) (ComputeQueue.MAX_BYTES_PER_SESSION / 2));
    for (int id = 0; id < CPU_THREADS; id++) {
      client.callTool(String.valueOf(id), "computes");
    }
    allBusy.await();

    // when
    List<MessageSource> answers =
        IntStream.range(0, 3)
            .mapToObj(id -> client.call(CALL.formatted(id + 1000, large)))
            .toList();

    // then
    assertThat(drain(answers.get(1))).singleElement().asString().contains("try again");
    stop.countDown();
    assertThat(drain(answers.get(0))).singleElement().asString().contains("false");
  }

  /** A batch may have more calls than the queue of its stream has places. */
  @Test
  void shouldRefuseTheCallsOfABatchWithoutReader() throws Exception {
    // given
    List<MessageSource> _ = compute(CPU_THREADS + ComputeQueue.MAX_CALLS_PER_SESSION);
    String batch =
        IntStream.rangeClosed(0, MessageQueue.MAX_MESSAGES)
            .mapToObj(id -> CALL.formatted(id + 1000, ""))
            .collect(Collectors.joining(",", "[", "]"));

    // when
    MessageSource answer = client.call(batch);

    // then
    assertThat(drain(answer))
        .hasSize(MessageQueue.MAX_MESSAGES + 1)
        .allMatch(message -> message.contains("try again"));
  }

  @Test
  void shouldNeverStartACallThatIsCancelledWhileItWaitsForAThread() throws Exception {
    // given
    List<MessageSource> answers = compute(CPU_THREADS);
    MessageSource waiting = client.callTool("100", "computes");

    // when
    client.cancel("100");

    // then
    assertThat(drain(waiting)).isEmpty();
    stop.countDown();
    assertThat(answers).allSatisfy(answer -> assertThat(drain(answer)).hasSize(1));
    assertThat(drain(client.callTool("101", "computes"))).hasSize(1);
    assertThat(seen).hasSize(CPU_THREADS + 1);
  }

  /** The interrupt of a cancelled call must not hit the next call on the same thread. */
  @Test
  void shouldNotInterruptTheNextCallOnTheThread() throws Exception {
    // given
    Tool<?> waits =
        ScriptedTool.computing(
            "waits",
            _ -> {
              seen.add("started");
              try {
                new CountDownLatch(1).await();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
              return ToolResult.text("never");
            });
    Tool<?> asks =
        ScriptedTool.computing(
            "asks", _ -> ToolResult.text("interrupted: " + Thread.interrupted()));
    LocalClient other = LocalClient.open(server.of(waits, asks));
    for (int id = 0; id < CPU_THREADS; id++) {
      other.callTool(String.valueOf(id), "waits");
      seen.take();
    }

    // when
    other.session().end();

    // then
    for (int id = 0; id < CPU_THREADS; id++) {
      assertThat(drain(other.callTool("1", "asks")))
          .singleElement()
          .asString()
          .contains("interrupted: false");
    }
  }
}
