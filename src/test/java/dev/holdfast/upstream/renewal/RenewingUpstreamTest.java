package dev.holdfast.upstream.renewal;

import static dev.holdfast.upstream.http.UpstreamFixture.body;
import static dev.holdfast.upstream.http.UpstreamFixture.credentials;
import static dev.holdfast.upstream.http.UpstreamFixture.initialize;
import static dev.holdfast.upstream.http.UpstreamFixture.settings;
import static dev.holdfast.upstream.http.UpstreamFixture.texts;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.call.Caller;
import dev.holdfast.call.ClientToken;
import dev.holdfast.call.Principal;
import dev.holdfast.call.SessionId;
import dev.holdfast.protocol.ForwardedHeaders;
import dev.holdfast.protocol.ProtocolVersion;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionLimits;
import dev.holdfast.session.SessionStore;
import dev.holdfast.session.Transport;
import dev.holdfast.session.memory.MemorySessionStore;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import dev.holdfast.upstream.http.ClientSession;
import dev.holdfast.upstream.http.Credentials;
import dev.holdfast.upstream.http.UpstreamFixture;
import dev.holdfast.upstream.state.SessionMemory;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Sessions at a server that forgets them. */
@Timeout(60)
class RenewingUpstreamTest {

  private static final String HANG =
      "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"hang\"}}";

  @RegisterExtension private final UpstreamFixture fixture = new UpstreamFixture();
  @AutoClose private final ForgetfulServer server = new ForgetfulServer();
  private final SessionStore store =
      new MemorySessionStore(
          Duration.ofHours(1), () -> new SessionLimits(9, 9, Map.of()), InstantSource.system());

  private Upstream replica(boolean respawn) {
    return new RenewingUpstream(fixture.upstream(settings(server.url())), "test", store, respawn);
  }

  /** Opens a session and records it as the gateway does. */
  private UpstreamLink open(Upstream upstream) {
    UpstreamLink opened = Objects.requireNonNull(upstream.initialize(initialize()).link());
    SessionId id = SessionId.random();
    store.create(
        new Session(
            id,
            "test",
            opened.session(),
            ProtocolVersion.V2025_11_25,
            Instant.now(),
            Transport.STREAMABLE,
            ForwardedHeaders.NONE,
            new Session.Owner(Principal.ANONYMOUS, "", "c", "")));
    store.saveUpstreamState(id, SessionMemory.INITIALIZE, initialize().bytes());
    return new UpstreamLink(
        opened.session(), opened.protocolVersion(), id.value(), Caller.UNKNOWN, null);
  }

  /** Sends a request and returns the session that has answered it. */
  private static String ask(UpstreamSession session, int id) {
    Answer answer =
        session.request(
            body("{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/list\"}".formatted(id)));
    assertThat(answer).isInstanceOf(Answer.Json.class);
    String text = new String(((Answer.Json) answer).json(), UTF_8);
    assertThat(text).contains("\"id\":" + id);
    return text.replaceFirst(".*\"session\":\"([^\"]+)\".*", "$1");
  }

  private static void set(UpstreamSession session, String method, String parameters) {
    session.request(
        body(
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":%s}"
                .formatted(method, parameters)));
  }

  @Test
  void shouldRenewAForgottenSessionWithWhatTheClientHasSet() {
    Upstream upstream = replica(true);
    UpstreamSession session = upstream.attach(open(upstream));
    set(session, "logging/setLevel", "{\"level\":\"debug\"}");
    set(session, "logging/setLevel", "{\"level\":\"error\"}");
    set(session, "resources/subscribe", "{\"uri\":\"a:/1\"}");
    set(session, "resources/subscribe", "{\"uri\":\"a:/2\"}");
    set(session, "resources/unsubscribe", "{\"uri\":\"a:/1\"}");
    assertThat(ask(session, 2)).isEqualTo("s-1");

    server.forget();

    assertThat(ask(session, 3)).isEqualTo("s-2");
    assertThat(server.sessions())
        .containsOnlyKeys("s-2")
        .containsEntry("s-2", new ForgetfulServer.State(Set.of("error"), Set.of("a:/2")));
    assertThat(server.received("notifications/initialized"))
        .singleElement()
        .satisfies(each -> assertThat(each.header("mcp-session-id")).isEqualTo("s-2"));
    int before = server.received("").size();
    assertThat(ask(session, 4)).isEqualTo("s-2");
    assertThat(server.received("")).hasSize(before + 1);

    server.forget();
    assertThat(ask(session, 5)).isEqualTo("s-3");
  }

  @Test
  void shouldRenewOnceForSeveralMessagesAndReplicas() throws Exception {
    Upstream one = replica(true);
    Upstream two = replica(true);
    UpstreamLink link = open(one);
    server.forget();

    List<Future<String>> answers = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 20; i++) {
        int id = i;
        UpstreamSession session = (i % 2 == 0 ? one : two).attach(link);
        answers.add(threads.submit(() -> ask(session, id)));
      }
    }

    assertThat(server.sessions()).hasSize(1);
    assertThat(server.opened()).isLessThanOrEqualTo(3);
    for (Future<String> answer : answers) {
      assertThat(server.sessions()).containsKey(answer.get());
    }
  }

  @Test
  void shouldUseTheSessionThatAnotherReplicaHasOpened() {
    Upstream one = replica(true);
    Upstream two = replica(true);
    UpstreamLink link = open(one);
    server.forget();
    assertThat(ask(one.attach(link), 1)).isEqualTo("s-2");

    assertThat(ask(two.attach(link), 2)).isEqualTo("s-2");

    server.forget();
    assertThat(ask(two.attach(link), 3)).isEqualTo("s-3");
    assertThat(ask(one.attach(link), 4)).isEqualTo("s-3");
    assertThat(server.opened()).isEqualTo(3);
  }

  @Test
  void shouldNotSendARunningCallAgain() {
    Upstream upstream = replica(true);
    UpstreamSession session = upstream.attach(open(upstream));
    MessageSource call = session.request(body(HANG)).source();
    List<UpstreamMessage> begun = call.take();
    assertThat(texts(begun)).singleElement().asString().contains("at/s-1");

    server.restart();

    assertThatThrownBy(call::take)
        .isInstanceOfSatisfying(
            UpstreamException.SessionGone.class, gone -> assertThat(gone.inCall()).isTrue());
    assertThat(ask(session, 8)).isEqualTo("s-2");
    assertThatThrownBy(() -> session.resume(String.valueOf(begun.getFirst().eventId())))
        .isInstanceOfSatisfying(
            UpstreamException.SessionGone.class, gone -> assertThat(gone.inCall()).isTrue());
    assertThat(server.received("\"hang\"")).hasSize(1);
  }

  /** The ids of events are the same in each session of this server. */
  @Test
  void shouldResumeACallOfARenewedSessionAtAnyReplica() {
    Upstream one = replica(true);
    UpstreamLink link = open(one);
    server.forget();
    MessageSource call = one.attach(link).request(body(HANG)).source();
    String eventId = String.valueOf(call.take().getFirst().eventId());
    assertThat(eventId).isNotEqualTo("1");

    try (MessageSource resumed = replica(true).attach(link).resume(eventId)) {
      assertThat(texts(resumed.take())).singleElement().asString().contains("at/s-2");
    }

    assertThat(server.received("last-event-id=1"))
        .singleElement()
        .satisfies(each -> assertThat(each.header("mcp-session-id")).isEqualTo("s-2"));
    server.forget();
    assertThat(ask(one.attach(link), 9)).isEqualTo("s-3");
    assertThatThrownBy(() -> one.attach(link).resume(eventId))
        .isInstanceOf(UpstreamException.SessionGone.class);
    assertThat(server.received("last-event-id=1")).hasSize(1);
    call.close();
  }

  @Test
  void shouldMoveTheStandaloneStreamToTheNewSession() {
    Upstream upstream = replica(true);
    UpstreamSession session = upstream.attach(open(upstream));
    MessageSource before = session.listen(null).orElseThrow();
    String last = before.take().getFirst().eventId();

    server.forget();
    assertThat(ask(session, 1)).isEqualTo("s-2");

    // The old stream is still connected, but brings nothing any more.
    assertThatThrownBy(before::take).isInstanceOf(UpstreamException.Broken.class);
    String next = assertListens(session, last, "at/s-2");
    assertThat(server.received("last-event-id")).isEmpty();
    String _ = assertListens(session, next, "at/s-2");
    assertThat(server.received("last-event-id=1")).hasSize(1);
  }

  private static @Nullable String assertListens(
      UpstreamSession session, @Nullable String after, String expected) {
    try (MessageSource source = session.listen(after).orElseThrow()) {
      UpstreamMessage message = source.take().getFirst();
      assertThat(texts(List.of(message))).singleElement().asString().contains(expected);
      return message.eventId();
    }
  }

  @Test
  void shouldRenewForTheStandaloneStreamAlone() {
    Upstream upstream = replica(true);
    UpstreamSession session = upstream.attach(open(upstream));
    MessageSource before = session.listen(null).orElseThrow();
    String last = before.take().getFirst().eventId();

    server.restart();

    assertThatThrownBy(before::take).isInstanceOf(UpstreamException.Broken.class);
    server.refusal = 401;
    assertThatThrownBy(() -> session.listen(last)).isInstanceOf(UpstreamException.NoToken.class);
    server.refusal = 200;
    String _ = assertListens(session, last, "at/s-2");
  }

  @Test
  void shouldFailAsBeforeUnlessItIsConfigured() {
    Upstream upstream = replica(false);
    UpstreamLink link = open(upstream);
    assertThat(upstream.profile().canReopen()).isFalse();
    assertThat(replica(true).profile().canReopen()).isTrue();
    server.forget();

    assertThatThrownBy(() -> ask(upstream.attach(link), 1))
        .isInstanceOf(UpstreamException.SessionGone.class);

    // A session of several servers must not end with one of them.
    UpstreamLink member = link.ofMember("a");
    assertThat(ask(upstream.attach(member), 2)).isEqualTo("s-2");
    assertThat(ask(replica(false).attach(member), 3)).isEqualTo("s-2");
  }

  @Test
  void shouldGiveUpIfTheServerOpensAnotherKindOfSession() {
    Upstream upstream = replica(true);
    UpstreamSession session = upstream.attach(open(upstream));
    server.forget();
    server.version = "2025-06-18";

    assertThatThrownBy(() -> ask(session, 1)).isInstanceOf(UpstreamException.SessionGone.class);

    assertThat(server.sessions()).isEmpty();
  }

  @Test
  void shouldKeepTheSessionWhileTheServerOpensNone() {
    Upstream upstream = replica(true);
    UpstreamSession session = upstream.attach(open(upstream));
    server.forget();
    for (int status : List.of(404, 500, 503)) {
      server.refusal = status;
      assertThatThrownBy(() -> ask(session, 1)).isInstanceOf(UpstreamException.Unreachable.class);
    }
    server.refusal = 403;
    assertThatThrownBy(() -> ask(session, 1)).isInstanceOf(UpstreamException.Refused.class);

    server.refusal = 200;

    assertThat(ask(session, 2)).isEqualTo("s-2");
  }

  @Test
  void shouldNotAnswerInTheNewSessionWhatTheOldOneHasAsked() {
    Upstream upstream = replica(true);
    UpstreamSession session = upstream.attach(open(upstream));
    server.forget();

    session.send(body("{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}"));
    assertThat(server.opened()).isOne();

    session.send(body("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"));
    assertThat(server.opened()).isEqualTo(2);
    assertThat(server.received("notifications/initialized"))
        .extracting(each -> each.header("mcp-session-id"))
        .containsExactly("s-1", "s-2");
  }

  @Test
  void shouldEndTheNewestSession() {
    Upstream one = replica(true);
    UpstreamLink link = open(one);
    server.forget();
    assertThat(ask(one.attach(link), 1)).isEqualTo("s-2");
    Upstream elsewhere = replica(true);

    elsewhere.attach(link).prepareEnd();
    store.end(SessionId.parse(String.valueOf(link.gatewaySession())).orElseThrow());
    elsewhere.attach(link).end();

    assertThat(server.sessions()).isEmpty();
  }

  @Test
  void shouldUseTheCredentialsOfTheMessage() {
    Credentials tokens =
        new Credentials() {
          @Override
          public String authorization(ClientSession caller, boolean asked) {
            ClientToken token = caller.token();
            return "Bearer " + (token == null ? "none" : token.value());
          }

          @Override
          public boolean needClientToken() {
            return true;
          }
        };
    Upstream upstream =
        new RenewingUpstream(
            fixture.upstream(credentials(tokens).apply(settings(server.url()))),
            "test",
            store,
            true);
    UpstreamLink link = open(upstream);
    server.forget();
    Caller sender =
        Caller.of(Principal.ANONYMOUS, Set.of(), new ClientToken("newest", null))
            .with(new ForwardedHeaders(Map.of("x-tenant", "green")));

    assertThat(ask(upstream.attach(link.with(sender)), 1)).isEqualTo("s-2");

    assertThat(server.received("\"initialize\"").getLast().headers())
        .containsEntry("authorization", "Bearer newest")
        .containsEntry("x-tenant", "green");
  }

  @Test
  void shouldPingWhileTheStandaloneStreamIsRead() {
    Upstream pinging = fixture.closing(new PingingUpstream(replica(true), Duration.ofMillis(50)));
    UpstreamLink link = open(pinging);
    MessageSource source = pinging.attach(link).listen(null).orElseThrow();
    source.take();
    await().until(() -> server.received("\"ping\"").size() > 2);

    // The server has not closed the stream, so only a ping can tell.
    server.forget();
    assertThatThrownBy(source::take).isInstanceOf(UpstreamException.Broken.class);
    assertThat(server.sessions()).containsOnlyKeys("s-2");

    int after = server.received("\"ping\"").size();
    await()
        .during(Duration.ofMillis(300))
        .until(() -> server.received("\"ping\"").size() <= after + 1);
  }
}
