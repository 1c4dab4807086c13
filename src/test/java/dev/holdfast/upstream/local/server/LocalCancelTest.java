package dev.holdfast.upstream.local.server;

import static dev.holdfast.upstream.local.server.LocalClient.drain;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.protocol.RequestId;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.local.LogLevel;
import dev.holdfast.upstream.local.ToolCall;
import dev.holdfast.upstream.local.ToolResult;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Cancellation of running calls. */
@Timeout(30)
class LocalCancelTest {

  private final BlockingQueue<String> seen = new ArrayBlockingQueue<>(100);
  private final CountDownLatch release = new CountDownLatch(1);

  @RegisterExtension final LocalServer server = new LocalServer();

  private final LocalUpstream upstream =
      server.of(
          ScriptedTool.waiting("waits", this::waits),
          ScriptedTool.computing("computes", this::waits),
          ScriptedTool.waiting("deaf", this::ignoresInterrupts),
          ScriptedTool.waiting("quick", _ -> ToolResult.text("quick")));
  private final LocalClient client = LocalClient.open(upstream);

  private ToolResult waits(ToolCall call) throws InterruptedException {
    seen.add("started");
    try {
      release.await();
      return ToolResult.text("done");
    } catch (InterruptedException e) {
      seen.add(call.cancelled() ? "cancelled" : "interrupted");
      throw e;
    }
  }

  private ToolResult ignoresInterrupts(ToolCall call) {
    seen.add("started");
    while (!call.cancelled()) {
      Thread.onSpinWait();
    }
    assertThatThrownBy(call::checkCancelled).isInstanceOf(CancellationException.class);
    assertThatThrownBy(() -> call.progress(1, null, null))
        .isInstanceOf(CancellationException.class);
    assertThatThrownBy(() -> call.log(LogLevel.ERROR, "l", "t"))
        .isInstanceOf(CancellationException.class);
    seen.add("cancelled");
    return ToolResult.text("too late");
  }

  @Test
  void shouldEndWithoutResponseAndInterruptWhenCancelled() throws Exception {
    // given
    MessageSource answer = client.callTool("1", "waits");
    assertThat(seen.take()).isEqualTo("started");

    // when
    client.cancel("1");

    // then
    assertThat(drain(answer)).isEmpty();
    assertThat(seen.take()).isEqualTo("cancelled");
  }

  @Test
  void shouldDropMessagesAfterACancellation() throws Exception {
    // given
    MessageSource answer = client.callTool("1", "deaf", "1");
    assertThat(seen.take()).isEqualTo("started");

    // when
    client.cancel("1");

    // then
    assertThat(drain(answer)).isEmpty();
    assertThat(seen.take()).isEqualTo("cancelled");
    assertThat(drain(answer)).isEmpty();
  }

  @Test
  void shouldCancelOnlyTheNamedCall() throws Exception {
    // given
    MessageSource number = client.callTool("1", "waits");
    MessageSource string = client.callTool("\"1\"", "waits");
    LocalClient stranger = LocalClient.open(upstream);
    MessageSource strangers = stranger.callTool("\"1\"", "waits");
    seen.take();
    seen.take();
    seen.take();

    // when
    client.cancel("\"1\"");

    // then
    assertThat(drain(string)).isEmpty();
    release.countDown();
    assertThat(drain(number)).hasSize(1);
    assertThat(drain(strangers)).hasSize(1);
  }

  @Test
  void shouldCancelThroughAnotherAttachment() throws Exception {
    // given
    MessageSource answer = client.callTool("1", "waits");
    assertThat(seen.take()).isEqualTo("started");

    // when
    LocalClient.attach(upstream, client.link()).cancel("1");

    // then
    assertThat(drain(answer)).isEmpty();
  }

  @Test
  void shouldWakeAWaitingReaderWhenCancelled() throws Exception {
    // given
    MessageSource answer = client.callTool("1", "waits");
    CompletableFuture<List<String>> messages = new CompletableFuture<>();
    Thread reader = Thread.ofPlatform().start(() -> messages.complete(drain(answer)));
    await().until(() -> reader.getState() == Thread.State.WAITING);

    // when
    client.cancel("1");

    // then
    assertThat(messages.get()).isEmpty();
  }

  @Test
  void shouldNeverStartACallThatItsOwnBatchCancels() {
    // when
    List<String> messages =
        drain(
            client.call(
                """
                [{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"waits"}},
                 {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"quick"}},
                 {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}]
                """));

    // then
    assertThat(messages).singleElement().asString().contains("\"id\":2");
    assertThat(seen).isEmpty();
  }

  /** Once the server removed a call after its response was visible, and refused the id. */
  @Test
  void shouldReuseIdAfterTheCallEnded() {
    for (int i = 0; i < 1000; i++) {
      assertThat(drain(client.callTool("1", "quick"))).singleElement().asString().contains("quick");
    }
  }

  @Test
  void shouldCancelAllCallsWhenTheSessionEnds() throws Exception {
    // given
    MessageSource first = client.callTool("1", "waits");
    MessageSource second = client.callTool("2", "computes");
    MessageSource strangers = LocalClient.open(upstream).callTool("1", "waits");
    seen.take();
    seen.take();
    seen.take();

    // when
    client.session().end();

    // then
    assertThat(drain(first)).isEmpty();
    assertThat(drain(second)).isEmpty();
    assertThat(seen.take()).isEqualTo("cancelled");
    assertThat(seen.take()).isEqualTo("cancelled");
    release.countDown();
    assertThat(drain(strangers)).hasSize(1);
  }

  @Test
  void shouldInterruptTheToolWhenTheStreamIsClosed() throws Exception {
    // given
    MessageSource answer = client.callTool("1", "waits");
    assertThat(seen.take()).isEqualTo("started");

    // when
    answer.close();
    answer.close();

    // then
    assertThat(seen.take()).isEqualTo("cancelled");
    assertThat(answer.take()).isEmpty();
  }

  @Test
  void shouldWakeWaitingReaderWhenClosed() throws Exception {
    // given
    MessageSource answer = client.callTool("1", "waits");
    CompletableFuture<List<String>> messages = new CompletableFuture<>();
    Thread reader = Thread.ofPlatform().start(() -> messages.complete(drain(answer)));
    await().until(() -> reader.getState() == Thread.State.WAITING);

    // when
    answer.close();

    // then
    assertThat(messages.get()).isEmpty();
  }

  @Test
  void shouldBreakWhenTheReaderIsInterrupted() throws Exception {
    // given
    MessageSource answer = client.callTool("1", "waits");
    assertThat(seen.take()).isEqualTo("started");

    // when
    Thread.currentThread().interrupt();

    // then
    assertThatThrownBy(answer::take).isInstanceOf(UpstreamException.Broken.class);
    assertThat(Thread.interrupted()).isTrue();
    assertThat(seen.take()).isEqualTo("cancelled");
    assertThat(answer.take()).isEmpty();
  }

  /**
   * A hash map searches all keys with equal hashes unless they are comparable. Clients choose the
   * ids of these.
   */
  @Test
  void callsShouldBeComparable() {
    LocalSessionId session = LocalSessionId.parse("a.");
    ToolCallTask.CallId first = new ToolCallTask.CallId(session, RequestId.of("Aa"));
    ToolCallTask.CallId second = new ToolCallTask.CallId(session, RequestId.of("BB"));
    ToolCallTask.CallId other =
        new ToolCallTask.CallId(LocalSessionId.parse("b."), RequestId.of("Aa"));

    assertThat(first).hasSameHashCodeAs(second);
    assertThat(new TreeSet<>(List.of(other, second, first))).containsExactly(first, second, other);
  }
}
