package dev.holdfast.upstream.stdio;

import static dev.holdfast.upstream.stdio.StdioClient.drain;
import static dev.holdfast.upstream.stdio.StdioClient.response;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The end of processes and their descendants. */
@Timeout(60)
class ProcessLifeTest {

  private static final Pattern NUMBER = Pattern.compile("\"result\":(\\d+)");

  @TempDir Path directory;
  private StdioUpstream upstream;

  private ShellServer server() {
    return new ShellServer(directory);
  }

  private ShellServer serverThatIgnoresSigterm() {
    return server()
        .stopGrace(Duration.ofMillis(100))
        .with("ON_START", "trap '' TERM")
        .with("AT_END", "while :; do sleep 0.05; done");
  }

  private ShellServer serverBehindWrapper() {
    return server()
        .stopGrace(Duration.ofMillis(200))
        .runBy("/bin/sh", "-c", "/bin/sh '" + ShellServer.script() + "'; true")
        .with("AT_END", "sleep 1000");
  }

  @BeforeEach
  void start() {
    upstream = server().upstream();
  }

  private StdioClient open(ShellServer server) {
    upstream = server.upstream();
    return StdioClient.open(upstream);
  }

  @AfterEach
  void stop() {
    upstream.close();
    assertThat(upstream.channels()).isZero();
  }

  @Test
  void shouldLetProcessEndByItself() {
    Path bye = directory.resolve("bye");
    StdioClient client = open(server().with("AT_END", "echo closed > " + bye));
    ProcessHandle process = process(client, "$$");

    client.session().end();

    await().until(() -> !process.isAlive());
    assertThat(bye).hasContent("closed");
    StdioUpstreamTest.assertGone(client.session());
    await().until(() -> upstream.channels() == 0);
  }

  /** Guards against a leak: without its threads the process ran on, and nothing ended it. */
  @ParameterizedTest
  @ValueSource(strings = {"stdin", "stdout", "stderr"})
  void shouldKillProcessWithoutThreads(String pipe) {
    StdioUpstreamSettings settings = server().runBy("/bin/sh", "-c", "exec sleep 1000").settings();
    AtomicLong pid = new AtomicLong();
    AtomicInteger told = new AtomicInteger();

    assertThatExceptionOfType(UpstreamException.Unreachable.class)
        .isThrownBy(() ->
            new ProcessChannel(settings, new ByteBudget(1000), "s", _ -> told.incrementAndGet())
                .read((name, work) -> {
                  pid.set(Long.parseLong(name.substring(name.lastIndexOf(' ') + 1)));
                  if (name.startsWith(pipe)) {
                    throw new OutOfMemoryError("unable to create native thread");
                  }
                  Thread.ofPlatform().daemon().start(work);
                }));

    assertThat(pid).doesNotHaveValue(0);
    await().until(() -> !ProcessHandle.of(pid.get()).map(ProcessHandle::isAlive).orElse(false));
    assertThat(told).hasValue(0);
  }

  @Test
  void shouldTerminateProcessThatIgnoresEndOfStdin() {
    Path bye = directory.resolve("bye");
    StdioClient client =
        open(
            server()
                .stopGrace(Duration.ofMillis(300))
                .with("ON_START", "trap 'echo terminated > " + bye + "; exit' TERM")
                .with("AT_END", "while :; do sleep 0.05; done"));
    ProcessHandle process = process(client, "$$");

    client.session().end();

    await().until(() -> !process.isAlive());
    assertThat(bye).hasContent("terminated");
  }

  @Test
  void shouldKillProcessThatIgnoresSigterm() {
    StdioClient client = open(serverThatIgnoresSigterm());
    ProcessHandle process = process(client, "$$");

    client.session().end();

    await().until(() -> !process.isAlive());
    await().until(() -> upstream.channels() == 0);
  }

  @Test
  void shouldEndProcessThatDoesNotRead() {
    // Its stdin cannot be closed: the unread bytes block the writer.
    StdioClient client =
        open(server().stopGrace(Duration.ofMillis(100)).firstByteTimeout(Duration.ofMillis(500)));
    ProcessHandle process = process(client, "$$");
    client.tell("sleep 1000");
    assertThatExceptionOfType(UpstreamException.TimedOut.class)
        .isThrownBy(() -> client.tell(" ".repeat(90_000)));

    client.session().end();

    await().until(() -> !process.isAlive());
    await().until(() -> upstream.channels() == 0);
  }

  @Test
  void shouldEndDescendants() {
    StdioClient client = open(server().stopGrace(Duration.ofMillis(200)));
    ProcessHandle process = process(client, "$$");
    client.tell("sleep 1000 & child=$!");
    ProcessHandle child = process(client, "$child");

    client.session().end();

    await().until(() -> !process.isAlive() && !child.isAlive());
    await().until(() -> upstream.channels() == 0);
  }

  @Test
  void shouldEndServerBehindWrapper() {
    StdioClient client = open(serverBehindWrapper());
    ProcessHandle wrapped = process(client, "$$");
    ProcessHandle wrapper = wrapped.parent().orElseThrow();

    client.session().end();

    await().until(() -> !wrapped.isAlive() && !wrapper.isAlive());
  }

  @Test
  void shouldEndServerOfKilledWrapper() {
    StdioClient client = open(serverBehindWrapper());
    ProcessHandle wrapped = process(client, "$$");
    MessageSource call = client.call("1", "");

    wrapped.parent().orElseThrow().destroyForcibly();

    await().until(() -> !wrapped.isAlive());
    assertThatExceptionOfType(UpstreamException.Broken.class).isThrownBy(call::take);
    await().untilAsserted(() -> StdioUpstreamTest.assertGone(client.session()));
    await().until(() -> upstream.channels() == 0);
  }

  @Test
  void shouldEndAllProcessesWhenClosed() {
    StdioClient client = open(serverThatIgnoresSigterm());
    ProcessHandle first = process(client, "$$");
    client = StdioClient.open(upstream);
    ProcessHandle second = process(client, "$$");

    upstream.close();

    assertThat(first.isAlive()).isFalse();
    assertThat(second.isAlive()).isFalse();
  }

  @Test
  void shouldFailOpenRequestsWhenProcessDies() {
    StdioClient client = open(server());
    ProcessHandle process = process(client, "$$");
    MessageSource standalone = client.listen();
    MessageSource call = client.call("1", "log a");
    assertThat(StdioClient.take(call, 1)).containsExactly(StdioClient.logged("a"));

    process.destroyForcibly();

    assertThatExceptionOfType(UpstreamException.Broken.class).isThrownBy(call::take);
    assertThatExceptionOfType(UpstreamException.SessionGone.class).isThrownBy(standalone::take);
    await().untilAsserted(() -> StdioUpstreamTest.assertGone(client.session()));
    await().untilAsserted(() -> StdioUpstreamTest.assertGone(upstream.attach(client.link())));
    await().until(() -> upstream.channels() == 0);
  }

  @Test
  void shouldDeliverLastMessagesOfProcess() {
    StdioClient client = open(server());

    assertThat(drain(client.call("1", "log a; reply '{}'; exit 3")))
        .containsExactly(StdioClient.logged("a"), response("1", "{}"));
    await().until(() -> upstream.channels() == 0);
  }

  @Test
  void shouldEndProcessThatClosesStdout() {
    StdioClient client = open(server());
    ProcessHandle process = process(client, "$$");
    MessageSource call = client.call("1", "exec 1>&-; while read -r line; do :; done");

    assertThatExceptionOfType(UpstreamException.Broken.class).isThrownBy(call::take);
    await().until(() -> !process.isAlive());
  }

  @Test
  void shouldEndProcessThatClosesStdin() {
    StdioClient client = open(server().stopGrace(Duration.ofMillis(200)));
    ProcessHandle process = process(client, "$$");
    MessageSource call = client.call("1", "exec 0<&-; log a; sleep 1000");
    assertThat(StdioClient.take(call, 1)).hasSize(1);

    assertThatExceptionOfType(UpstreamException.class).isThrownBy(() -> client.tell("log b"));

    assertThatExceptionOfType(UpstreamException.Broken.class).isThrownBy(call::take);
    await().until(() -> !process.isAlive());
  }

  @Test
  void shouldEndProcessWithEndlessLine() {
    StdioClient client = open(server());
    ProcessHandle process = process(client, "$$");
    MessageSource other = client.call("1", "");
    MessageSource call = client.call("2", "i=0; while :; do printf '%01000d' 0; done");

    for (MessageSource each : new MessageSource[] {call, other}) {
      assertThatExceptionOfType(UpstreamException.Broken.class)
          .isThrownBy(each::take)
          .withMessageContaining("its output broke");
    }
    StdioUpstreamTest.assertGone(client.session());
    await().until(() -> !process.isAlive());
  }

  /** The process whose id the shell variable names. */
  private static ProcessHandle process(StdioClient client, String variable) {
    Matcher number = NUMBER.matcher(client.ask("99", "reply " + variable));
    assertThat(number.find()).isTrue();
    Optional<ProcessHandle> process = ProcessHandle.of(Long.parseLong(number.group(1)));
    return process.orElseThrow();
  }
}
