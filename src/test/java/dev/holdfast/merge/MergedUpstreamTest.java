package dev.holdfast.merge;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.call.Caller;
import dev.holdfast.call.Principal;
import dev.holdfast.call.SessionId;
import dev.holdfast.demo.Demo;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionLimits;
import dev.holdfast.session.SessionStore;
import dev.holdfast.session.SessionStoreException;
import dev.holdfast.session.memory.MemorySessionStore;
import dev.holdfast.upstream.ForwardingUpstream;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.ReplaceableUpstream;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamSession;
import dev.holdfast.upstream.local.server.LocalUpstream;
import dev.holdfast.upstream.local.server.LogLevelStore;
import dev.holdfast.upstream.state.SessionMemory;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A session with two servers of this process. */
class MergedUpstreamTest {

  private static final String INITIALIZE =
      """
      {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",\
      "capabilities":{},"clientInfo":{"name":"test","version":"1"}}}\
      """;

  private final LocalUpstream one = server();
  private final LocalUpstream two = server();
  private final ReplaceableUpstream twoReplaced =
      new ReplaceableUpstream(two, InstantSource.system());
  private final MemorySessionStore store =
      new MemorySessionStore(
          Duration.ofMinutes(10),
          () -> new SessionLimits(10, 10, Map.of()),
          InstantSource.system());
  private final MergedUpstream merged =
      new MergedUpstream(
          MergeFixture.settings(MergeSettings.Naming.PREFIX, Duration.ofSeconds(20)),
          () -> Map.of("one", one, "two", twoReplaced),
          MergeFixture.OPEN,
          store,
          new ByteBudget(1 << 20),
          "1");

  private static LocalUpstream server() {
    return new LocalUpstream(
        new LocalUpstream.ServerFeatures(Demo.TOOLS, Demo.RESOURCES, Demo.PROMPTS),
        new LogLevelStore.InMemory(),
        "test",
        "1");
  }

  @AfterEach
  void close() {
    merged.close();
    one.close();
    two.close();
  }

  private static Message.Request request(String json) {
    return (Message.Request) ((Body.Single) body(json)).message();
  }

  private static Body body(String json) {
    return Envelopes.read(json.getBytes(UTF_8));
  }

  private UpstreamLink open() {
    Handshake handshake = merged.initialize(request(INITIALIZE), Caller.UNKNOWN);
    assertThat(new String(handshake.response(), UTF_8))
        .contains("\"protocolVersion\":\"2025-11-25\"", "\"tools\":{\"listChanged\":true}");
    SessionId id = SessionId.random();
    Instant now = Instant.now().truncatedTo(ChronoUnit.MILLIS);
    store.create(Session.opening(id, "default", now, "", Principal.ANONYMOUS, ""));
    store.saveUpstreamState(id, SessionMemory.INITIALIZE, INITIALIZE.getBytes(UTF_8));
    UpstreamLink link = Objects.requireNonNull(handshake.link());
    return new UpstreamLink(
        link.session(), link.protocolVersion(), id.value(), Caller.UNKNOWN, null);
  }

  private static String ask(UpstreamSession session, String method, String params) {
    String json =
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"%s\",\"params\":%s}".formatted(method, params);
    try (MessageSource answer = session.request(body(json)).source()) {
      return new String(Objects.requireNonNull(answer.response()).bytes(), UTF_8);
    }
  }

  @Test
  void shouldPassRequestsToTheirServers() {
    UpstreamLink link = open();
    UpstreamSession session = merged.attach(link);

    assertThat(ask(session, "ping", "{}")).contains("\"result\":{}");
    assertThat(ask(session, "tools/list", "{}")).contains("\"one__", "\"two__");
    assertThat(ask(session, "prompts/list", "{}")).contains("\"one__", "\"two__");
    assertThat(ask(session, "resources/list", "{}")).contains("\"resources\":[{");
    assertThat(
            ask(session, "tools/call", "{\"name\":\"one__countdown\",\"arguments\":{\"from\":1}}"))
        .doesNotContain("Unknown tool");
    assertThat(ask(session, "tools/call", "{\"name\":\"countdown\",\"arguments\":{}}"))
        .contains("Unknown tool: countdown");
    assertThat(ask(session, "prompts/get", "{\"name\":\"none\"}")).contains("Unknown prompt: none");
    assertThat(ask(session, "resources/read", "{\"uri\":\"none://\"}"))
        .contains("Resource not found: none://");
    assertThat(ask(session, "completion/complete", "{\"ref\":{\"name\":\"none\"}}"))
        .contains("Unknown prompt: none");
    assertThat(ask(session, "logging/setLevel", "{\"level\":\"loud\"}")).contains("-32602");
    assertThat(ask(session, "logging/setLevel", "{\"level\":\"debug\"}")).contains("\"result\":{}");
    assertThat(ask(session, "tasks/get", "{}")).contains("Method not found");
    assertThat(ask(session, "tools/list", "{\"cursor\":\"x\"}")).contains("-32602");
    // Another replica knows the sessions with servers from the store.
    assertThat(SessionMemory.of(store, link).find("members").orElseThrow())
        .contains("\"one\":{")
        .doesNotContain("\"two\":{");
    session.prepareEnd();
    session.end();
  }

  @Test
  void shouldOpenNoSessionAtARemovedServer() {
    UpstreamLink link = open();
    UpstreamSession session = merged.attach(link);
    String call = "{\"name\":\"two__countdown\",\"arguments\":{\"from\":1}}";
    assertThat(ask(session, "tools/call", call)).contains("liftoff");
    assertThat(merged.members(link)).containsOnlyKeys("two");

    twoReplaced.remove();

    assertThat(ask(session, "tools/call", call)).contains("liftoff");
    assertThatThrownBy(() -> ask(merged.attach(open()), "tools/call", call))
        .isInstanceOf(UpstreamException.Unreachable.class);
  }

  @SuppressWarnings("unchecked") // a proxy has the type that it is made for
  private static <T> T intercepting(Class<T> type, T target, String method, Runnable before) {
    return (T)
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (_, called, arguments) -> {
              if (called.getName().equals(method)) {
                before.run();
              }
              return called.invoke(target, arguments);
            });
  }

  /** Nobody would end it, since nobody knows it. */
  @Test
  void shouldEndASessionOfAServerThatItCannotRecord() {
    AtomicInteger opened = new AtomicInteger();
    AtomicInteger ended = new AtomicInteger();
    Upstream counting =
        new ForwardingUpstream(one) {
          @Override
          public Handshake initialize(Message.Request initialize, Caller opener) {
            opened.incrementAndGet();
            return super.initialize(initialize, opener);
          }

          @Override
          public UpstreamSession attach(UpstreamLink link) {
            return intercepting(
                UpstreamSession.class, super.attach(link), "end", ended::incrementAndGet);
          }
        };
    SessionStore failing =
        intercepting(
            SessionStore.class,
            store,
            "replaceUpstreamState",
            () -> {
              throw new SessionStoreException(null);
            });
    try (MergedUpstream unlucky =
        new MergedUpstream(
            MergeFixture.settings(MergeSettings.Naming.PREFIX, Duration.ofSeconds(20)),
            () -> Map.of("one", counting),
            MergeFixture.OPEN,
            failing,
            new ByteBudget(1 << 20),
            "1")) {
      UpstreamSession session = unlucky.attach(open());

      assertThatThrownBy(() ->
              ask(
                  session,
                  "tools/call",
                  "{\"name\":\"one__countdown\",\"arguments\":{\"from\":1}}"))
          .isInstanceOf(UpstreamException.Unreachable.class);
      assertThat(ended.get()).isEqualTo(opened.get()).isPositive();
    }
  }

  @Test
  void shouldPassMessagesToServersWithSessions() {
    UpstreamSession session = merged.attach(open());
    String _ =
        ask(session, "tools/call", "{\"name\":\"two__countdown\",\"arguments\":{\"from\":1}}");

    session.send(body("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/roots/list_changed\"}"));
    session.send(body("{\"jsonrpc\":\"2.0\",\"id\":\"two/9\",\"result\":{}}"));
    session.send(body("{\"jsonrpc\":\"2.0\",\"id\":\"gone/9\",\"result\":{}}"));
    session.told(body("{\"jsonrpc\":\"2.0\",\"id\":\"two/9\",\"result\":{}}"));
    session.told(
        body(
            "{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"tools/call\",\"params\":{\"name\":\"x\"}}"));

    assertThat(
            ask(session, "tools/call", "{\"name\":\"two__countdown\",\"arguments\":{\"from\":1}}"))
        .contains("\"id\":7");
  }

  @Test
  void shouldAnswerBatches() {
    UpstreamSession session = merged.attach(open());
    try (MessageSource answer =
        session
            .request(
                body(
                    "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"},"
                        + "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}]"))
            .source()) {
      StringBuilder all = new StringBuilder();
      answer.forEach(message -> all.append(new String(message.payload(), UTF_8)));
      assertThat(all).contains("\"id\":1", "\"id\":2", "one__");
    }
  }
}
