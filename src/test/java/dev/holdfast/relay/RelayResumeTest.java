package dev.holdfast.relay;

import static dev.holdfast.relay.RelayFixture.SCRIPTED;
import static dev.holdfast.relay.RelayFixture.call;
import static dev.holdfast.relay.pump.PumpFixture.PROGRESS;
import static dev.holdfast.relay.pump.PumpFixture.result;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import dev.holdfast.call.Caller;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.LogTesting;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.StreamRef;
import dev.holdfast.relay.stream.EventId;
import dev.holdfast.relay.stream.RelayException;
import dev.holdfast.relay.stream.ReplayConfig;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.relay.tail.Tail;
import dev.holdfast.relay.tail.TestConnection;
import dev.holdfast.session.Session;
import dev.holdfast.testing.LoggedLines;
import dev.holdfast.upstream.Answer;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class RelayResumeTest {

  private final ScriptedSource source = new ScriptedSource();
  private RelayFixture fixture = new RelayFixture();

  private RelayFixture with(Settings.Replay replay) {
    fixture.close();
    fixture = new RelayFixture(Settings.streams(), replay);
    return fixture;
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  /** A call whose server has sent so many messages; returns its stream. */
  private String streamOf(Session session, int messages) {
    fixture.scripted.answer = _ -> new Answer.Stream(source);
    int before = fixture.heard.appended.get();
    String stream = fixture.request(session, call("1", "t")).stream().name();
    fixture.pass(Duration.ofSeconds(3)); // The client is gone.
    source.bring(Collections.nCopies(messages, PROGRESS).toArray(String[]::new));
    await().until(() -> fixture.heard.appended.get() == before + messages);
    return stream;
  }

  private EventId id(String stream, long number) {
    return new EventId(stream, new Position(fixture.now.get(), number));
  }

  private TestConnection resume(Session session, EventId last) {
    return LogFixture.run(
        fixture.follower.resume(session, last, null).orElseThrow(), new TestConnection());
  }

  @Test
  void shouldGoOnAfterTheEventThatTheClientNames() {
    Session session = fixture.open(SCRIPTED);
    String stream = streamOf(session, 3);

    TestConnection client = resume(session, id(stream, 2));
    source.bring(result("1"));
    client.awaitEnd();

    assertThat(client.data()).containsExactly(PROGRESS, result("1"));
  }

  /** Writes the standalone stream of a session that nobody listens to. */
  private void standalone(Session session, int messages) {
    StreamRef stream = new StreamRef(new LogKey(session.id().value()), StreamNames.STANDALONE);
    fixture.log.openUnfollowed(stream, null).append(LogTesting.numbered(1, messages));
  }

  private EventId purgedFrom(Session session, EventId last) {
    RelayException.EventsPurged purged =
        catchThrowableOfType(
            RelayException.EventsPurged.class, () -> fixture.follower.resume(session, last, null));
    return purged.firstAvailable().orElseThrow();
  }

  @Test
  void shouldSayWhatIsStillThereWhenEventsOfAStandaloneStreamArePurged() {
    Session session = fixture.open(SCRIPTED);
    standalone(session, 30);

    assertThat(purgedFrom(session, id("g", 5))).isEqualTo(id("g", 21));
    assertThat(fixture.heard.gaps).hasValue(1);
  }

  /** The end of the connection and the 410 of the next one once counted as two gaps. */
  @Test
  void shouldCountAndLogAGapOfAConnectedClientOnce() {
    Session session = fixture.open(SCRIPTED);
    standalone(session, 30);
    Supplier<ReadResult> beforeThePurge = () -> new ReadResult.Events(List.of());
    try (LoggedLines lines = new LoggedLines("dev.holdfast.relay.tail")) {
      Tail tail = fixture.follower.resume(session, id("g", 5), beforeThePurge).orElseThrow();
      LogFixture.run(tail, new TestConnection()).awaitEnd();
      assertThat(fixture.heard.gaps).hasValue(0);

      assertThat(purgedFrom(session, id("g", 5))).isEqualTo(id("g", 21));

      assertThat(fixture.heard.gaps).hasValue(1);
      lines.awaitRepeating(
          "events are gone stream="
              + StreamNames.standalone(session)
              + " after="
              + id("g", 5).position()
              + " cause=purged",
          () -> purgedFrom(session, id("g", 5)));
    }
  }

  @Test
  void shouldLogWhyNothingCanBeResumed() {
    Session session =
        with(new Settings.Replay(true, Duration.ofMinutes(10), ReplayConfig.OnGap.ERROR))
            .open(SCRIPTED);
    try (LoggedLines lines = new LoggedLines("dev.holdfast.relay.tail")) {
      awaitRefusal(
          lines,
          session,
          id("abc", 1),
          "client resumes a stream that its session never had stream=%s/abc after=%s cause=not written yet");
      awaitRefusal(
          lines,
          session,
          new EventId("abc", new Position(1, 1)),
          "client resumes a stream that its session never had stream=%s/abc after=%s cause=older than its session");
      EventId gone = id("abc", 1);
      EventId ahead = id("g", 9);
      EventId first = id("g", 1);
      standalone(session, 3);
      awaitRefusal(
          lines,
          session,
          ahead,
          "client told that events are gone stream=%s/g after=%s cause=lost by the store");
      fixture.pass(Duration.ofMinutes(11));
      awaitRefusal(
          lines,
          session,
          gone,
          "client told that events are gone stream=%s/abc after=%s cause=stream gone");
      awaitRefusal(
          lines,
          session,
          first,
          "client told that events are gone stream=%s/g after=%s cause=older than replay.window");
    }
  }

  private void awaitRefusal(LoggedLines lines, Session session, EventId last, String line) {
    lines.awaitRepeating(
        line.formatted(session.id(), last.position()),
        () ->
            assertThatThrownBy(() -> fixture.follower.resume(session, last, null))
                .isInstanceOf(RelayException.class));
  }

  /** A client that came back to a call was once refused its result if notifications were purged. */
  @Test
  void shouldBringTheResultAfterAGap() {
    Session session = fixture.open(SCRIPTED);
    String stream = streamOf(session, 30);

    TestConnection client = resume(session, id(stream, 5));
    client.await(c -> c.data().size() == 10);
    source.bring(result("1"));
    client.awaitEnd();

    assertThat(client.text()).contains(": gap: events after ");
    assertThat(client.data()).hasSize(11).last().isEqualTo(result("1"));
    assertThat(fixture.heard.gaps).hasValue(1);
  }

  @Test
  void shouldTakeAStaleCursorForPurgedIfEventsFollowIt() {
    Session session =
        with(new Settings.Replay(true, Duration.ofMinutes(10), ReplayConfig.OnGap.ERROR))
            .open(SCRIPTED);
    standalone(session, 3);
    EventId first = id("g", 1);
    EventId newest = id("g", 3);
    fixture.pass(Duration.ofMinutes(10));
    assertThat(fixture.follower.resume(session, first, null)).isPresent();

    fixture.pass(Duration.ofMillis(1));

    assertThat(purgedFrom(session, first)).isEqualTo(first);
    assertThat(fixture.follower.resume(session, newest, null)).isPresent();
  }

  @Test
  void shouldNeverTakeTheStartForStale() {
    Session session =
        with(new Settings.Replay(true, Duration.ofMinutes(10), ReplayConfig.OnGap.ERROR))
            .open(SCRIPTED);
    String stream = streamOf(session, 3);
    fixture.pass(Duration.ofMinutes(20));

    TestConnection client = resume(session, new EventId(stream, Position.START));

    client.await(c -> c.data().size() == 3);
  }

  @Test
  void shouldNotFindAStreamOfAnotherSession() {
    Session mine = fixture.open(SCRIPTED);
    Session other = fixture.open(SCRIPTED);
    String stream = streamOf(mine, 3);

    assertThatThrownBy(() -> fixture.follower.resume(other, id(stream, 1), null))
        .isInstanceOf(RelayException.StreamNotFound.class);
  }

  @Test
  void shouldNotFindAStreamThatNeverWas() {
    Session session = fixture.open(SCRIPTED);
    EventId beforeTheSession = new EventId("abc", new Position(1, 1));

    assertThatThrownBy(() -> fixture.follower.resume(session, id("abc", 1), null))
        .isInstanceOf(RelayException.StreamNotFound.class);
    assertThatThrownBy(() -> fixture.follower.resume(session, beforeTheSession, null))
        .isInstanceOf(RelayException.StreamNotFound.class);
  }

  /** A primary that fails may lose a stream that a client has read. */
  @Test
  void shouldSayThatAStreamWhichMayHaveBeenIsGone() {
    Session session = fixture.open(SCRIPTED);
    EventId last = id("abc", 1);

    fixture.pass(Duration.ofSeconds(1));

    assertThatThrownBy(() -> fixture.follower.resume(session, last, null))
        .isInstanceOf(RelayException.EventsPurged.class);
    assertThatThrownBy(
            () -> fixture.follower.resume(session, new EventId("abc", Position.START), null))
        .isInstanceOf(RelayException.EventsPurged.class);
  }

  /** An event between the first read and the watch wakes no tail. */
  @Test
  void shouldBringWhatCameBeforeTheTailBegan() {
    Session session = fixture.open(SCRIPTED);
    String stream = streamOf(session, 1);
    Tail tail = fixture.follower.resume(session, id(stream, 1), null).orElseThrow();

    source.bring(result("1"));
    await().until(() -> fixture.heard.appended.get() == 2);
    TestConnection client = LogFixture.run(tail, new TestConnection());

    // A tail that missed it looks again only after ten seconds.
    await().atMost(Duration.ofSeconds(5)).until(client::hasEnded);
    assertThat(client.data()).containsExactly(result("1"));
  }

  @Test
  void shouldSayThatACompleteStreamIsNoLongerKept() {
    Session session = fixture.open(SCRIPTED);
    String stream = streamOf(session, 1);
    EventId first = id(stream, 1);
    source.bring(result("1"));
    resume(session, first).awaitEnd();

    // The resumed client may not have received the end, so the stream stays for ten hours.
    fixture.pass(Duration.ofHours(9));
    assertThat(fixture.follower.resume(session, first, null)).isPresent();
    fixture.pass(Duration.ofHours(2));

    RelayException.EventsPurged purged =
        catchThrowableOfType(
            RelayException.EventsPurged.class, () -> fixture.follower.resume(session, first, null));
    assertThat(purged.firstAvailable()).isEmpty();
    assertThat(fixture.heard.gaps).hasValue(1);
  }

  /** Only a client that resumes after the last event has proved that it has it. */
  @Test
  void shouldKeepAStreamBrieflyOnceItsClientHasProvedToHaveIt() {
    Session session = fixture.open(SCRIPTED);
    String stream = streamOf(session, 1);
    EventId first = id(stream, 1);
    source.bring(result("1"));
    resume(session, first).awaitEnd();

    assertThat(fixture.follower.resume(session, id(stream, 2), null)).isEmpty();
    fixture.pass(Duration.ofMinutes(3));

    assertThatThrownBy(() -> fixture.follower.resume(session, first, null))
        .isInstanceOf(RelayException.EventsPurged.class);
  }

  @Test
  void shouldGiveNothingWhenNothingIsLeftToSay() {
    Session session = fixture.open(SCRIPTED);
    String stream = streamOf(session, 1);
    source.bring(result("1"));
    await().until(() -> fixture.heard.appended.get() == 2);

    assertThat(fixture.follower.resume(session, id(stream, 2), null)).isEmpty();
  }

  @Test
  void shouldGiveNothingWhenOnlyTheEndOfACancelledCallIsLeft() {
    Session session = fixture.open(SCRIPTED);
    String stream = streamOf(session, 1);
    fixture.sender.send(session, RelayFixture.body(RelayFixture.cancelled("1")), Caller.UNKNOWN);
    await().until(() -> fixture.heard.appended.get() == 2);

    assertThat(fixture.follower.resume(session, id(stream, 1), null)).isEmpty();
    assertThat(fixture.follower.resume(session, id(stream, 2), null)).isEmpty();
  }

  @Test
  void shouldGiveTheStandaloneStreamWhenNothingCanBeResumed() {
    Session session =
        with(new Settings.Replay(false, Duration.ofHours(1), ReplayConfig.OnGap.ERROR))
            .open(SCRIPTED);

    Tail tail = fixture.follower.resume(session, id("abc", 1), null).orElseThrow();

    assertThat(tail.stream().name()).isEqualTo(StreamNames.STANDALONE);
  }
}
