package dev.holdfast.relay.tail;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.log.LogTesting;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.relay.FaultyLog;
import dev.holdfast.relay.LogFixture;
import dev.holdfast.relay.Settings;
import dev.holdfast.relay.stream.StreamConfig;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.testing.LoggedLines;
import dev.holdfast.wiring.config.ConfigFixture;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Connections use the monotonic clock, so these tests use short timeouts. */
@Timeout(30)
class TailLifetimeTest {

  private static final Duration SHORT = Duration.ofMillis(20);
  private static final String STANDALONE = StreamNames.STANDALONE;
  private static final String OPENING = "id: %s_0-0\nretry: 5000\ndata: \n\n";

  private final LogFixture fixture = new LogFixture();

  @Test
  void shouldCloseAnIdleConnectionWithARetry() {
    assertClosedWithARetry(Settings.streams(Map.of("idle-timeout", SHORT)), STANDALONE);
  }

  /** A client that does not resume once lost each call of more than an hour. */
  @Test
  void shouldKeepAnOldConnectionThatTheClientNeeds() {
    fixture.streams =
        Settings.streams(Map.of("max-lifetime", SHORT, "keep-alive", SHORT.multipliedBy(3)));
    StreamWriter writer = fixture.open("s");

    TestConnection client = follow(new EventFraming("s", true, true, true, null), false);
    client.await(c -> c.text().endsWith(": \n\n: \n\n"));
    writer.append(LogTesting.numbered(1, 1));
    client.await(c -> c.text().endsWith(": \n\n: \n\n") && c.data().size() == 1);
    writer.append(LogFixture.complete(2, 2));
    client.awaitEnd();

    assertThat(client.data()).containsExactly("1", "2");
    assertThat(client.text()).doesNotContain("retry: 5000\n\n");
  }

  /** Without its first event id, no client can resume. */
  @Test
  void shouldKeepAnOldConnectionUntilTheClientHasAnEventId() {
    fixture.streams =
        Settings.streams(Map.of("max-lifetime", SHORT, "keep-alive", SHORT.multipliedBy(3)));
    StreamWriter writer = fixture.open("s");

    TestConnection client = follow(new EventFraming("s", true, false, false, null), true);
    client.await(c -> c.text().endsWith(": \n\n: \n\n"));
    writer.append(LogTesting.numbered(1, 1));
    client.awaitEnd();

    assertThat(client.data()).containsExactly("1");
  }

  /** It resumes with a new token, if it can. */
  @Test
  void shouldEndWithAnExpiredTokenOnceTheClientHasAnEventId() {
    StreamWriter writer = fixture.open("s");
    Tail tail = tail("s", new EventFraming("s", true, false, true, null), false);
    TestConnection client = LogFixture.run(tail, new TestConnection());

    tail.depart(Departure.EXPIRED);
    assertThat(client.hasEnded()).isFalse();
    writer.append(LogTesting.numbered(1, 1));
    client.awaitEnd();

    assertThat(client.data()).containsExactly("1");
    assertThat(client.text()).contains(": the access token is no longer valid");
  }

  @Test
  void shouldEndAtOnceWithARevokedToken() {
    StreamWriter writer = fixture.open("s");
    Tail tail = tail("s", new EventFraming("s", true, false, true, null), false);
    TestConnection client = LogFixture.run(tail, new TestConnection());

    tail.depart(Departure.REVOKED);
    client.awaitEnd();
    writer.append(LogTesting.numbered(1, 1));

    assertThat(client.data()).isEmpty();
    assertThat(client.text()).contains(": the access token is no longer valid");
  }

  private TestConnection follow(EventFraming framing, boolean resumes) {
    return LogFixture.run(tail("s", framing, resumes), new TestConnection());
  }

  private Tail tail(String stream, EventFraming framing, boolean resumes) {
    return new Tail(
        fixture.context(),
        LogFixture.ref(stream),
        framing,
        Position.START,
        TailKind.REQUEST,
        fixture.heard,
        () -> resumes);
  }

  /** A client that does not resume once waited for ever for the result of a silent call. */
  @Test
  void shouldNotCloseTheConnectionOfASilentCall() {
    fixture.streams =
        Settings.streams(Map.of("idle-timeout", SHORT, "keep-alive", SHORT.multipliedBy(3)));
    StreamWriter writer = fixture.open("s");

    TestConnection client = fixture.follow("s");
    client.await(c -> c.text().endsWith(": \n\n: \n\n"));
    writer.append(LogFixture.complete(1, 1));
    client.awaitEnd();

    assertThat(client.data()).containsExactly("1");
    assertThat(client.text()).doesNotContain("retry: 5000\n\n");
  }

  /** A shared stream answers requests now and then: it is idle between them. */
  @Test
  void shouldCloseAnIdleSharedConnectionOnlyWhileNoRequestIsOpen() {
    fixture.streams =
        Settings.streams(Map.of("idle-timeout", SHORT, "keep-alive", SHORT.multipliedBy(3)));
    fixture.log.openShared(LogFixture.ref(StreamNames.SHARED));
    AtomicReference<StreamWriter> writer = new AtomicReference<>();
    TestConnection client = new TestConnection();
    client.onWrite =
        () -> {
          if (writer.get() == null) {
            writer.set(fixture.log.open(LogFixture.ref("s"), "1", StreamNames.SHARED));
          }
        };

    EventFraming shared = new EventFraming(StreamNames.SHARED, true, true, true, "/messages");
    LogFixture.run(tail(StreamNames.SHARED, shared, true), client);
    client.await(c -> c.text().endsWith(": \n\n: \n\n"));
    byte[] result = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}".getBytes(UTF_8);
    writer.get().append(List.of(new NewEvent(result, null, true)));
    client.awaitEnd();

    assertThat(client.text()).contains("\"result\"").endsWith("retry: 5000\n\n");
  }

  /** Some clients never open it again, and hear of no change from then on. */
  @Test
  void shouldNotCloseAnIdleConnectionByDefault() {
    assertThat(ConfigFixture.by(Map.of()).getConfigMapping(StreamConfig.class).idleTimeout())
        .isZero();
    fixture.streams = Settings.streams(Map.of("idle-timeout", Duration.ZERO, "keep-alive", SHORT));
    fixture.open(STANDALONE);

    TestConnection client = fixture.follow(STANDALONE);
    client.await(c -> c.text().endsWith(": \n\n: \n\n"));

    assertThat(client.hasEnded()).isFalse();
    client.leave();
  }

  @Test
  void shouldCloseAnOldConnectionWithARetry() {
    assertClosedWithARetry(Settings.streams(Map.of("max-lifetime", SHORT)), "s");
  }

  private void assertClosedWithARetry(StreamConfig streams, String stream) {
    fixture.streams = streams;
    fixture.open(stream);

    TestConnection client = fixture.follow(stream);
    client.awaitEnd();

    assertThat(client.text()).isEqualTo(OPENING.formatted(stream) + "retry: 5000\n\n");
  }

  @Test
  void shouldSendKeepAliveComments() {
    fixture.streams = Settings.streams(Map.of("keep-alive", SHORT));
    StreamWriter writer = fixture.open("s");
    TestConnection client = fixture.follow("s");

    client.await(c -> c.text().startsWith(OPENING.formatted("s") + ": \n\n: \n\n: \n\n"));
    writer.append(LogFixture.complete(1, 1));
    client.awaitEnd();

    assertThat(client.data()).containsExactly("1");
    assertThat(fixture.events("s")).hasSize(1);
  }

  @Test
  void shouldNotCountCommentsAsEvents() {
    fixture.streams =
        Settings.streams(
            Map.of("keep-alive", Duration.ofMillis(5), "idle-timeout", Duration.ofMillis(500)));
    fixture.open(STANDALONE);

    TestConnection client = fixture.follow(STANDALONE);
    client.awaitEnd();

    assertThat(client.text())
        .startsWith(OPENING.formatted(STANDALONE) + ": \n\n")
        .endsWith(": \n\nretry: 5000\n\n");
  }

  /** The tail never pauses, because there is always an event to read. */
  @Test
  void shouldCloseAnOldConnectionOnABusyStreamToo() {
    fixture.streams = Settings.streams(Map.of("max-lifetime", Duration.ofMillis(100)));
    StreamWriter writer = fixture.open("s");
    TestConnection client = new TestConnection();
    AtomicInteger written = new AtomicInteger();
    client.onWrite = () -> appendNext(writer, written, Integer.MAX_VALUE);

    LogFixture.run(fixture.tail("s", Position.START, TailKind.REQUEST), client);
    client.awaitEnd();

    assertThat(client.text()).endsWith("\n\nretry: 5000\n\n");
    assertThat(client.data()).isEqualTo(LogFixture.numbers(1, client.data().size()));
  }

  private static void appendNext(StreamWriter writer, AtomicInteger written, int last) {
    int number = written.incrementAndGet();
    if (number < last) {
      writer.append(LogTesting.numbered(number, number));
    } else if (number == last) {
      writer.append(LogFixture.complete(number, number));
    }
  }

  /** A call that ends as usual must not cost the store a command more. */
  @Test
  void shouldLeaveOpenStreamsOnly() {
    FaultyLog log = new FaultyLog(fixture.log);
    fixture.log = log;
    StreamWriter writer = fixture.open("s");
    TestConnection gone = fixture.follow("s", Position.START, TailKind.REQUEST);
    writer.append(LogTesting.numbered(1, 1));
    gone.await(c -> c.data().size() == 1);
    assertThat(log.left).hasValue(0);

    gone.leave();
    gone.awaitEnd();
    assertThat(log.left).hasValue(1);

    TestConnection client = fixture.follow("s", Position.START, TailKind.RESUMED);
    writer.append(LogFixture.complete(2, 2));
    client.awaitEnd();
    fixture.follow("s", Position.START, TailKind.RESUMED).awaitEnd();
    assertThat(log.left).hasValue(1);
  }

  /** A replica that stops closes its connections as soon as its calls have ended. */
  @Test
  void shouldDeliverTheEndOfACallBeforeItLeaves() throws Exception {
    FaultyLog faulty = new FaultyLog(fixture.log);
    fixture.log = faulty;
    StreamWriter writer = fixture.open("s");
    faulty.afterRead =
        () -> {
          faulty.afterRead = () -> {};
          writer.append(LogFixture.complete(1, 1));
          fixture.tails.leave();
        };

    TestConnection client = fixture.follow("s", Position.START, TailKind.REQUEST);
    client.awaitEnd();

    assertThat(client.data()).containsExactly("1");
  }

  /** The client comes back with its cursor. */
  @Test
  void shouldEndTheConnectionAfterAnUnexpectedFailure() {
    FaultyLog faulty = new FaultyLog(fixture.log);
    fixture.log = faulty;
    StreamWriter writer = fixture.open("s");
    faulty.afterRead =
        () -> {
          throw new IllegalStateException("planted");
        };
    try (LoggedLines log = new LoggedLines(TailLoop.class)) {
      TestConnection client = fixture.follow("s", Position.START, TailKind.REQUEST);

      log.await("tail failed unexpectedly stream=");
      client.awaitEnd();
      faulty.afterRead = () -> {};
      writer.append(LogFixture.complete(1, 1));
      TestConnection again = fixture.follow("s", Position.START, TailKind.RESUMED);
      again.awaitEnd();
      assertThat(again.data()).containsExactly("1");
    }
  }
}
