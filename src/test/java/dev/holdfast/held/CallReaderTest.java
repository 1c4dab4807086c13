package dev.holdfast.held;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.call.Principal;
import dev.holdfast.call.SessionId;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.LogTesting;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamRef;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.relay.LogFixture;
import dev.holdfast.seal.Seal;
import dev.holdfast.seal.SealStore;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Checks who may read a call, and that a reader changes nothing for the client. */
class CallReaderTest {

  private static final Principal ADA = new Principal("keys", "ada");
  private static final Duration LONG = Duration.ofMinutes(5);
  private static final Body CALL =
      Envelopes.read(
          "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"x\"}}"
              .getBytes(StandardCharsets.UTF_8));

  private final LogFixture fixture = new LogFixture();
  private final EventLog log = fixture.log;
  private final SessionId session = SessionId.random();
  private final StreamRef stream = new StreamRef(new LogKey(session.value()), "a");
  private final AtomicBoolean draining = new AtomicBoolean();
  private final Seal seal = new Seal(new SealStore.InMemory(fixture.clock), fixture.clock);
  private final CallReader reader = new CallReader(log, draining::get, seal, true);

  private StreamWriter open() {
    log.begin(stream.key(), "");
    return log.open(stream, "1");
  }

  private static List<String> texts(CallReader.Page page) {
    assertThat(page).isInstanceOf(CallReader.Page.Messages.class);
    return ((CallReader.Page.Messages) page)
        .messages().stream().map(each -> new String(each, StandardCharsets.UTF_8)).toList();
  }

  @Test
  void shouldOpenAHandleOnlyForItsCallerAndServer() {
    String handle = reader.handle("default", ADA, CALL, stream).orElseThrow();

    assertThat(reader.find("default", ADA, handle)).contains(stream);
    assertThat(reader.find("default", new Principal("keys", "bob"), handle)).isEmpty();
    assertThat(reader.find("default", new Principal("other", "ada"), handle)).isEmpty();
    assertThat(reader.find("default", Principal.ANONYMOUS, handle)).isEmpty();
    assertThat(reader.find("other", ADA, handle)).isEmpty();
    assertThat(handle).doesNotContain(session.value());

    fixture.now.addAndGet(CallHandle.LIFE.toMillis());
    assertThat(reader.find("default", ADA, handle)).isEmpty();
  }

  @Test
  void shouldGiveNoHandleWhenOff() {
    assertThat(new CallReader(log, draining::get, seal, false).handle("default", ADA, CALL, stream))
        .isEmpty();
  }

  @Test
  void shouldReadWithoutBeingAClient() {
    StreamWriter writer = open();
    LogTesting.CountingWatcher client = new LogTesting.CountingWatcher();
    log.watch(stream, Position.START, client);
    writer.append(LogTesting.numbered(1, 3));

    try (CallReader.Follower follower = reader.follow(stream)) {
      assertThat(texts(reader.read(stream, Position.START))).containsExactly("1", "2", "3");
      assertThat(follower).isNotNull();
    }

    assertThat(client.evictions()).isZero();
    assertThat(log.deliveredUpTo(stream)).isEqualTo(Position.START);
  }

  @Test
  void shouldReadALargeStreamInPages() {
    StreamWriter writer = open();
    String large = "x".repeat((int) EventLog.PAGE_BYTES);
    writer.append(List.of(LogTesting.event("1"), LogTesting.event(large), LogTesting.last("3")));

    CallReader.Page.Messages first = (CallReader.Page.Messages) reader.read(stream, Position.START);
    assertThat(texts(first)).containsExactly("1");
    assertThat(first.upToDate()).isFalse();
    CallReader.Page.Messages second = (CallReader.Page.Messages) reader.read(stream, first.next());
    assertThat(texts(second)).containsExactly(large);
    assertThat(second.closed()).isFalse();
    CallReader.Page.Messages third = (CallReader.Page.Messages) reader.read(stream, second.next());
    assertThat(texts(third)).containsExactly("3");
    assertThat(third.closed()).isTrue();
    assertThat(third.upToDate()).isTrue();
  }

  /** A wait that nothing ends would last longer than the test may. */
  @Test
  void shouldNotWaitInVain() throws InterruptedException {
    StreamWriter writer = open();
    Position end = writer.append(LogTesting.numbered(1, 1));

    try (CallReader.Follower follower = reader.follow(stream)) {
      Thread writing = Thread.startVirtualThread(() -> writer.append(LogTesting.numbered(2, 2)));
      assertThat(texts(follower.next(end, LONG))).containsExactly("2");
      writing.join();
      Position newest = log.newest(stream).orElseThrow();

      draining.set(true);
      assertThat(texts(follower.next(newest, LONG))).isEmpty();
      draining.set(false);

      follower.stop();
      assertThat(texts(follower.next(newest, LONG))).isEmpty();
    }
  }

  @Test
  void shouldNotFindWhatHasEnded() {
    assertThat(reader.read(stream, Position.START)).isInstanceOf(CallReader.Page.Unknown.class);
    assertThat(reader.end(stream)).isInstanceOf(CallReader.Page.Unknown.class);
    StreamWriter writer = open();
    Position end = writer.append(LogTesting.numbered(1, 1));
    assertThat(reader.read(stream, new Position(end.millis(), 9)))
        .isInstanceOf(CallReader.Page.Purged.class);

    log.end(stream.key());

    assertThat(reader.read(stream, end)).isInstanceOf(CallReader.Page.Unknown.class);
  }
}
