package dev.holdfast.record;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.call.Caller;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.record.TapeEntry.Sender;
import dev.holdfast.relay.ScriptedUpstream;
import dev.holdfast.testing.LoggedLines;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.ObservedUpstream;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What passes an upstream, and what is on the tape afterwards. */
@Timeout(20)
class RecorderTest {

  private static final InstantSource CLOCK =
      InstantSource.fixed(Instant.parse("2026-11-23T01:02:03.004005Z"));
  private static final String CALL =
      "{\"jsonrpc\":\"2.0\",\"id\":1,\n \"method\":\"tools/call\",\"params\":{\"name\":\"é\"}}";
  private static final String PROGRESS =
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"n\":1.0}}";
  private static final String RESULT = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"ok\":true}}";

  @TempDir private Path temp;

  private static Body body(String json) {
    return Envelopes.read(json.getBytes(UTF_8));
  }

  private static Message.Request initialize() {
    String json =
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\","
            + "\"params\":{\"protocolVersion\":\"2025-11-25\"}}";
    return (Message.Request) body(json).messages().getFirst();
  }

  private static UpstreamMessage message(String json) {
    return new UpstreamMessage(json.getBytes(UTF_8), null);
  }

  private static Upstream recorded(Upstream server, String name, Recorder recorder) {
    return ObservedUpstream.of(server, List.of(new SessionTapes(name, recorder)));
  }

  /** A session with a call of two messages, a notification, an announcement and a failed call. */
  private static void runSession(ScriptedUpstream server, Recorder recorder) {
    Upstream upstream = recorded(server, "a/b", recorder);
    UpstreamLink link =
        Objects.requireNonNull(upstream.initialize(initialize(), Caller.UNKNOWN).link());
    UpstreamSession session = upstream.attach(link);
    session.send(body("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"));
    server.answer =
        _ -> new Answer.Stream(MessageSource.of(List.of(message(PROGRESS), message(RESULT))));
    session.request(body(CALL)).source().forEach(_ -> {});
    server.listen = () -> java.util.Optional.of(MessageSource.of(List.of(message(PROGRESS))));
    upstream.attach(link).listen(null).orElseThrow().forEach(_ -> {});
    server.answer =
        _ -> {
          throw new UpstreamException.TimedOut("it \"slept\"");
        };
    assertThatExceptionOfType(UpstreamException.TimedOut.class)
        .isThrownBy(() -> session.request(body(CALL)));
    session.end();
  }

  private List<Path> files() throws IOException {
    try (Stream<Path> files = Files.list(temp.resolve("tapes"))) {
      return files.sorted().toList();
    }
  }

  private TapeDirectory directory(long fileBytes, long maxBytes) {
    return new TapeDirectory(temp.resolve("tapes"), fileBytes, maxBytes);
  }

  private Path record() throws IOException {
    try (Recorder recorder = new Recorder(directory(1 << 20, 1 << 21), CLOCK)) {
      runSession(new ScriptedUpstream(), recorder);
    }
    assertThat(files()).hasSize(1);
    return files().getFirst();
  }

  @Test
  void shouldRecordEveryMessageAndFailureOfASession() throws Exception {
    Path file = record();

    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(temp.resolve("tapes"))))
        .isEqualTo("rwx------");
    assertThat(file.getFileName().toString()).startsWith("20261123-010203-a_b-");
    String time = "{\"time\":\"2026-11-23T01:02:03.004Z\",";
    assertThat(Files.readAllLines(file))
        .containsExactly(
            "{\"tape\":1," + time.substring(1) + "\"upstream\":\"a/b\",\"part\":1}",
            time
                + "\"from\":\"client\",\"stream\":\"1\",\"position\":1,\"message\":"
                + new String(initialize().bytes(), UTF_8)
                + "}",
            time
                + "\"from\":\"server\",\"stream\":\"1\",\"position\":2,\"message\":"
                + new String(ScriptedUpstream.RESULT, UTF_8)
                + "}",
            time
                + "\"from\":\"client\",\"message\":"
                + "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}}",
            time
                + "\"from\":\"client\",\"stream\":\"2\",\"position\":1,\"message\":"
                + CALL.replace("\n", " ")
                + "}",
            time
                + "\"from\":\"server\",\"stream\":\"2\",\"position\":2,\"message\":"
                + PROGRESS
                + "}",
            time
                + "\"from\":\"server\",\"stream\":\"2\",\"position\":3,\"message\":"
                + RESULT
                + "}",
            time
                + "\"from\":\"server\",\"stream\":\"g\",\"position\":1,\"message\":"
                + PROGRESS
                + "}",
            time
                + "\"from\":\"client\",\"stream\":\"3\",\"position\":1,\"message\":"
                + CALL.replace("\n", " ")
                + "}",
            time
                + "\"stream\":\"3\",\"failure\":"
                + "\"the upstream was too slow: it \\\"slept\\\"\"}");
  }

  /** One invalid message of a server made its whole tape unreadable. */
  @Test
  void shouldMarkMessagesThatAreNotJsonRpc() throws Exception {
    ScriptedUpstream server = new ScriptedUpstream();
    server.answer =
        _ ->
            new Answer.Stream(
                MessageSource.of(List.of(message("not JSON"), message("{}"), message(RESULT))));
    try (Recorder recorder = new Recorder(directory(1 << 20, 1 << 21), CLOCK)) {
      UpstreamLink link = new UpstreamLink("s", "2025-11-25");
      UpstreamSession session = recorded(server, "web", recorder).attach(link);
      session.request(body(CALL)).source().forEach(_ -> {});
    }

    List<TapeEntry> entries = Tape.read(files().getFirst()).entries();
    assertThat(entries).hasSize(4);
    assertThat(entries.subList(1, 3)).allMatch(TapeEntry.Missing.class::isInstance);
  }

  @Test
  void shouldReadATapeUpToAnyCut() throws Exception {
    Path whole = record();
    byte[] bytes = Files.readAllBytes(whole);
    List<String> entries = texts(Tape.read(whole));
    int complete = -1;
    Path cut = temp.resolve("cut.jsonl");
    for (int length = 0; length <= bytes.length; length++) {
      Files.write(cut, Arrays.copyOf(bytes, length));
      boolean atLineEnd = length > 0 && (bytes[length - 1] == '\n' || isNewLine(bytes, length));
      complete += length > 0 && isNewLine(bytes, length) ? 1 : 0;

      Tape tape = Tape.read(cut);

      assertThat(texts(tape)).isEqualTo(entries.subList(0, Math.max(0, complete)));
      assertThat(tape.cut()).as("cut at %d", length).isEqualTo(!atLineEnd);
    }
    assertThat(complete).isEqualTo(entries.size());
  }

  /** Whether a line ends here, whatever follows. */
  private static boolean isNewLine(byte[] bytes, int index) {
    return index < bytes.length && bytes[index] == '\n';
  }

  /** Bodies are equal only if they share their bytes. */
  private static List<String> texts(Tape tape) {
    return tape.entries().stream()
        .map(entry ->
            entry instanceof TapeEntry.Sent sent
                ? sent.stream() + sent.position() + new String(sent.body().bytes(), UTF_8)
                : entry.toString())
        .toList();
  }

  @Test
  void shouldContinueInFurtherFilesAndDeleteTheOldest() throws Exception {
    Files.createDirectories(temp.resolve("tapes"));
    Path foreign = Files.write(temp.resolve("tapes/notes.jsonl"), new byte[1 << 20]);
    TapeDirectory directory = directory(4096, 5 * 4096);
    String name;
    try (Recorder recorder = new Recorder(directory, CLOCK)) {
      SessionTape first = new SessionTape(recorder, "first");
      first.sent(PROGRESS.getBytes(UTF_8));
      // Else the wait below would end before the file is there.
      await().until(() -> files().stream().anyMatch(file -> file.toString().contains("-first-")));
      SessionTape tape = new SessionTape(recorder, "web");
      name = tape.tape().name;
      SessionTape.Stream stream = tape.newStream();
      for (int i = 0; i < 150; i++) {
        stream.add(Sender.SERVER, PROGRESS.getBytes(UTF_8));
      }
      stream.add(
          Sender.SERVER,
          ("{\"jsonrpc\":\"2.0\",\"method\":\"" + "x".repeat(5000) + "\"}").getBytes(UTF_8));
      // The recorder's thread deletes the file. Before that, the line would still fit into it.
      await().until(() -> files().stream().noneMatch(file -> file.toString().contains("-first-")));
      first.sent(RESULT.getBytes(UTF_8));
    }

    List<Path> tapes = files().stream().filter(file -> !file.equals(foreign)).toList();
    assertThat(foreign).exists();
    assertThat(tapes).allSatisfy(file -> assertThat(Files.size(file)).isLessThanOrEqualTo(4096));
    assertThat(tapes.stream().mapToLong(file -> file.toFile().length()).sum())
        .isLessThanOrEqualTo(5 * 4096);
    assertThat(tapes)
        .filteredOn(file -> file.getFileName().toString().startsWith(name))
        .anySatisfy(file ->
            assertThat(Tape.read(file).entries().getLast()).isInstanceOf(TapeEntry.Missing.class));
    // Its first file was the oldest one, so the session continues in a second one.
    assertThat(tapes)
        .anySatisfy(file ->
            assertThat(file.getFileName().toString()).contains("-first-").endsWith(".2.jsonl"));
  }

  @Test
  void shouldMarkWhatItCannotKeepUpWith() throws Exception {
    CountDownLatch slow = new CountDownLatch(1);
    CountDownLatch writing = new CountDownLatch(1);
    try (Recorder recorder = new Recorder(directory(1 << 20, 1 << 21), CLOCK, 10_000)) {
      SessionTape tape = new SessionTape(recorder, "web");
      recorder.add(
          tape.tape(),
          1,
          () -> {
            writing.countDown();
            awaitQuietly(slow);
            return TapeLine.missing(CLOCK.instant(), 77);
          });
      writing.await();
      byte[] message = PROGRESS.getBytes(UTF_8);
      for (int i = 0; i < 1000; i++) {
        tape.sent(message);
      }
      slow.countDown();
    }

    List<TapeEntry> entries = Tape.read(files().getFirst()).entries();
    long written = entries.stream().filter(TapeEntry.Sent.class::isInstance).count();
    assertThat(written).isBetween(10L, 100L);
    assertThat(entries.getLast())
        .isInstanceOfSatisfying(
            TapeEntry.Missing.class,
            missing -> assertThat(missing.messages()).isEqualTo(1000 - written));
  }

  @Test
  void shouldNotWaitForADiskThatStands() throws Exception {
    CountDownLatch stands = new CountDownLatch(1);
    CountDownLatch writing = new CountDownLatch(1);
    Recorder recorder = new Recorder(directory(1 << 20, 1 << 21), CLOCK);
    try (LoggedLines log = new LoggedLines(Recorder.class)) {
      SessionTape tape = new SessionTape(recorder, "web");
      recorder.add(
          tape.tape(),
          1,
          () -> {
            writing.countDown();
            awaitQuietly(stands);
            return TapeLine.missing(CLOCK.instant(), 1);
          });
      writing.await();

      recorder.close();

      log.await("tapes lose their last messages: the disk is too slow");
    } finally {
      stands.countDown();
      recorder.close(); // Else its thread may write while JUnit deletes the directory.
    }
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  /** A file system of its own that is full after some messages. Only root may mount it. */
  @Test
  void shouldStopTheTapeAndNotTheSessionOnAFullDisk() throws Exception {
    Path disk = Files.createDirectories(temp.resolve("tapes"));
    assumeTrue(run("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk.toString()) == 0);
    try (LoggedLines log = new LoggedLines(Recorder.class)) {
      try (Recorder recorder = new Recorder(directory(1 << 20, 1 << 21), CLOCK)) {
        SessionTape tape = new SessionTape(recorder, "web");
        byte[] message = PROGRESS.getBytes(UTF_8);
        // More than the disk has room for, but not the queue: else the next session finds it full.
        for (int i = 0; i < 2000; i++) {
          tape.sent(message);
        }
        await().until(() -> tape.tape().stopped);
        tape.sent(message);
        Path full = files().getFirst();
        Tape stopped = Tape.read(full);
        assertThat(stopped.entries()).hasSizeGreaterThan(100);
        Files.delete(full);
        runSession(new ScriptedUpstream(), recorder);
      }

      assertThat(log.lines())
          .singleElement()
          .asString()
          .contains("tape stopped, its session continues");
      assertThat(files()).hasSize(1);
      assertThat(Tape.read(files().getFirst()).entries()).hasSize(9);
    } finally {
      run("umount", disk.toString());
    }
  }

  private static int run(String... command) throws Exception {
    return new ProcessBuilder(command).start().waitFor();
  }

  @Test
  void shouldSayWhichLineIsNotOfATape() throws Exception {
    Path file = record();
    List<String> lines = Files.readAllLines(file);

    assertThat(failure(file, lines.getFirst(), "{\"time\":", lines.getLast()))
        .contains("line 2: not JSON");
    assertThat(failure(file, lines.getFirst().replace("\"tape\":1", "\"tape\":2")))
        .contains("line 1: a tape of version 2");
    assertThat(failure(file, lines.get(1))).contains("line 1: the first line");
    assertThat(failure(file, lines.getFirst(), lines.get(1).replace("client", "friend")))
        .contains("line 2: from must be");
    assertThat(failure(file, lines.getFirst(), lines.get(1).replace("\"method\"", "\"way\"")))
        .contains("line 2: the message is not JSON-RPC");
  }

  private static String failure(Path file, String... lines) throws IOException {
    Files.write(file, List.of(lines));
    return String.valueOf(
        assertThatExceptionOfType(TapeException.class)
            .isThrownBy(() -> Tape.read(file))
            .actual()
            .getMessage());
  }

  /** A tape from elsewhere may be larger than the memory. */
  @Test
  void shouldKeepNoTapeThatIsTooLarge() throws Exception {
    Path file = record();
    long size = Files.size(file);

    assertThat(Tape.read(file, size).entries()).isNotEmpty();
    assertThatExceptionOfType(TapeException.class)
        .isThrownBy(() -> Tape.read(file, size / 2))
        .withMessageContaining("is kept in memory");
  }

  @Test
  void shouldIgnoreUnknownFields() throws Exception {
    Path file = record();
    List<String> entries = texts(Tape.read(file));
    Files.write(
        file,
        Files.readAllLines(file).stream()
            .map(line -> line.replace("{\"t", "{\"new\":{\"time\":[1]},\"t"))
            .toList());

    assertThat(texts(Tape.read(file))).isEqualTo(entries);
  }
}
