package dev.holdfast.relay.legacy;

import static dev.holdfast.relay.RelayFixture.OPENER;
import static dev.holdfast.relay.RelayFixture.SCRIPTED;
import static dev.holdfast.relay.RelayFixture.initialize;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.holdfast.call.Caller;
import dev.holdfast.call.SessionId;
import dev.holdfast.log.Position;
import dev.holdfast.protocol.Body;
import dev.holdfast.relay.LogFixture;
import dev.holdfast.relay.RelayFixture;
import dev.holdfast.relay.ScriptedUpstream;
import dev.holdfast.relay.Settings;
import dev.holdfast.relay.stream.EventId;
import dev.holdfast.relay.stream.RelayException;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.relay.tail.Tail;
import dev.holdfast.relay.tail.TestConnection;
import dev.holdfast.session.Session;
import dev.holdfast.session.TooManySessionsException;
import dev.holdfast.testing.LoggedLines;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Sessions over HTTP with SSE. */
class LegacySseRelayTest {

  private static final Duration QUARTER = Duration.ofMinutes(15);

  private final RelayFixture fixture = new RelayFixture();
  private final LegacySseRelay relay = fixture.legacy;
  private final AtomicReference<SessionId> opened = new AtomicReference<>();

  @AfterEach
  void close() {
    fixture.close();
  }

  private TestConnection open() {
    Tail tail =
        relay.open(
            SCRIPTED,
            OPENER,
            id -> {
              opened.set(id);
              return "/messages/" + id.value();
            });
    return LogFixture.run(tail, new TestConnection());
  }

  private Session session() {
    return fixture.findSse(opened.get());
  }

  private static Body initializing() {
    return new Body.Single(initialize("2024-11-05"));
  }

  private TestConnection initialized() {
    TestConnection client = open();
    relay.request(session(), initializing(), Caller.UNKNOWN, () -> {});
    await().until(() -> client.text().contains("\"result\""));
    return client;
  }

  @Test
  void shouldExpireASessionThatIsNotInitialized() {
    TestConnection client = open();
    fixture.pass(Duration.ofSeconds(59));
    assertThat(session().isInitialized()).isFalse();

    fixture.pass(Duration.ofSeconds(2));
    fixture.housekeeping.sweep();

    assertThatExceptionOfType(RelayException.SessionNotFound.class).isThrownBy(this::session);
    client.awaitEnd();
    assertThat(fixture.scripted.ended).hasValue(0);
  }

  @Test
  void shouldKeepAnInitializedSessionWhileAClientListens() {
    TestConnection _ = initialized();

    fixture.pass(Duration.ofMinutes(2));
    fixture.housekeeping.sweep();

    assertThat(session().isInitialized()).isTrue();
  }

  @Test
  void shouldCountAPendingSession() {
    for (int i = 0; i < RelayFixture.MAX_SESSIONS; i++) {
      open();
    }

    assertThatExceptionOfType(TooManySessionsException.class).isThrownBy(this::open);
  }

  @Test
  void shouldAllowARetryWhenTheServerFailsToInitialize() {
    TestConnection client = open();
    fixture.scripted.handshake =
        () -> {
          throw new UpstreamException.Unreachable(null);
        };
    relay.request(session(), initializing(), Caller.UNKNOWN, () -> {});
    await().until(() -> client.text().contains("\"error\""));

    fixture.scripted.handshake = () -> ScriptedUpstream.handshake("2024-11-05");
    relay.request(session(), initializing(), Caller.UNKNOWN, () -> {});

    await().until(() -> client.text().contains("\"result\""));
    assertThat(session().isInitialized()).isTrue();
  }

  /** Servers without the client's version choose another, which most clients refuse. */
  @Test
  void shouldNameTheVersionThatTheClientAskedFor() {
    byte[] response =
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\": \"2025-11-25\",\"x\":1}}"
            .getBytes(UTF_8);
    fixture.scripted.handshake =
        () -> new Handshake(response, new UpstreamLink("upstream", "2025-11-25"), List.of());

    TestConnection client = initialized();

    assertThat(client.text())
        .contains("\"result\":{\"protocolVersion\": \"2024-11-05\",\"x\":1}}")
        .doesNotContain("2025-11-25");
  }

  @Test
  void shouldSayThatTheStoreWasAway() {
    TestConnection client = open();
    await().until(() -> !client.text().isEmpty()); // It watches the stream.
    Session session = session();
    fixture.scripted.keeping = true;
    fixture.scripted.handshake =
        () -> {
          fixture.log.away = true;
          return ScriptedUpstream.handshake("2024-11-05");
        };
    try (LoggedLines log = new LoggedLines(LegacySseRelay.class)) {
      relay.request(session, initializing(), Caller.UNKNOWN, () -> {});

      log.await("session not initialized session=" + session.id());
    }
    fixture.log.away = false;
    await().until(() -> client.text().contains("The store is away; open another session"));
  }

  @Test
  void shouldCloseAServersSessionWithAnUnknownVersion() {
    TestConnection client = open();
    fixture.scripted.handshake = () -> ScriptedUpstream.handshake("1999-01-01");

    relay.request(session(), initializing(), Caller.UNKNOWN, () -> {});

    await().until(() -> client.text().contains("no protocol version in common"));
    assertThat(fixture.scripted.ended).hasValue(1);
    assertThat(session().isInitialized()).isFalse();
  }

  @Test
  void shouldEndAServersSessionThatOpensTooLate() {
    TestConnection client = open();
    Session session = session();
    fixture.scripted.handshake =
        () -> {
          fixture.store.end(session.id());
          return ScriptedUpstream.handshake("2024-11-05");
        };

    relay.request(session, initializing(), Caller.UNKNOWN, () -> {});

    await().until(() -> client.text().contains("has ended"));
    assertThat(fixture.scripted.ended).hasValue(1);
  }

  @Test
  void shouldNotServeTheSessionOverOtherTransports() {
    TestConnection _ = initialized();

    assertThatExceptionOfType(RelayException.SessionNotFound.class)
        .isThrownBy(() -> fixture.find(SCRIPTED, opened.get()));
    Session other = fixture.open(SCRIPTED);
    assertThatExceptionOfType(RelayException.SessionNotFound.class)
        .isThrownBy(() -> fixture.findSse(other.id()));
  }

  /** An event source gives up after 410, and it has missed nothing. */
  @Test
  void shouldResumeASilentStreamAfterTheReplayWindow() {
    TestConnection first = initialized();
    EventId cursor = EventId.parseWithSession(first.lastId()).orElseThrow();
    Duration window = Settings.replay().window();
    for (Duration spent = Duration.ZERO;
        spent.compareTo(window) <= 0;
        spent = spent.plus(QUARTER)) {
      fixture.pass(QUARTER);
      assertThat(session().isInitialized()).isTrue();
    }

    Tail tail = relay.resume(session(), cursor, id -> "/here");

    assertThat(tail.stream().name()).isEqualTo(StreamNames.SHARED);
  }

  @Test
  void shouldResumeOnAnyReplica() {
    TestConnection first = initialized();
    String last = first.lastId();
    first.leave();
    EventId cursor = EventId.parseWithSession(last).orElseThrow();

    Tail tail = relay.resume(session(), cursor, id -> "/here");
    TestConnection again = LogFixture.run(tail, new TestConnection());

    await().until(() -> again.text().contains("event: endpoint\nid: " + last));
    assertThat(cursor.position()).isNotEqualTo(Position.START);
    assertThat(again.text()).contains("data: /here").doesNotContain("\"result\"");
  }
}
