package dev.holdfast.relay.attach;

import static dev.holdfast.relay.RelayFixture.body;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.call.Caller;
import dev.holdfast.call.Conversation;
import dev.holdfast.call.Exchange;
import dev.holdfast.call.Principal;
import dev.holdfast.log.CallIndex;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamRef;
import dev.holdfast.relay.LogFixture;
import dev.holdfast.relay.RelayFixture;
import dev.holdfast.relay.Reply;
import dev.holdfast.relay.stream.EventId;
import dev.holdfast.relay.tail.Tail;
import dev.holdfast.relay.tail.TestConnection;
import dev.holdfast.session.Session;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.local.Tool;
import dev.holdfast.upstream.local.ToolCall;
import dev.holdfast.upstream.local.ToolResult;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Checks the rules by which a call joins another one, without a network. */
class AttachedCallsTest {

  private static final Caller ALICE = Caller.of(new Principal("key", "alice"), Set.of(), null);
  private static final Conversation SINGLE = new Conversation.Single(_ -> null);

  private final Map<Integer, AtomicInteger> executions = new ConcurrentHashMap<>();
  private final RelayFixture fixture =
      new RelayFixture(Duration.ofMinutes(1), new NumberTool(executions));

  /** The arguments of the tool. */
  private record Argument(int number) {}

  /** Counts how often it is called with each number. */
  private record NumberTool(Map<Integer, AtomicInteger> executions) implements Tool<Argument> {

    @Override
    public String name() {
      return "number";
    }

    @Override
    public String description() {
      return "Counts calls.";
    }

    @Override
    public Class<Argument> arguments() {
      return Argument.class;
    }

    @Override
    public ToolResult call(Argument arguments, ToolCall call) {
      executions.computeIfAbsent(arguments.number, _ -> new AtomicInteger()).incrementAndGet();
      return ToolResult.text("number " + arguments.number);
    }
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  private static String call(int id, int number) {
    return """
    {"jsonrpc":"2.0","id":%d,"method":"tools/call","params":\
    {"name":"number","arguments":{"number":%d}}}\
    """
        .formatted(id, number);
  }

  private Tail send(Session session, Caller caller, String json, Conversation conversation) {
    var exchange = new Exchange(session.upstream(), conversation, caller, body(json), () -> false);
    return ((Reply.Stream) fixture.sender.request(session, exchange, () -> {})).tail();
  }

  private Tail send(Session session, String json) {
    return fixture.request(session, json);
  }

  /** A client that gets everything. */
  private static String read(Tail tail) {
    TestConnection client = LogFixture.run(tail, new TestConnection());
    client.awaitEnd();
    return client.text();
  }

  /** A client that leaves before it gets anything. */
  private static void leave(Tail tail) {
    TestConnection client = new TestConnection();
    client.leave();
    tail.run(client);
    if (!client.hasEnded()) {
      client.awaitEnd();
    }
  }

  private int executions(int number) {
    return executions.getOrDefault(number, new AtomicInteger()).get();
  }

  @Test
  void shouldReturnAResultThatWasNotDelivered() {
    Session session = fixture.open(RelayFixture.LOCAL);
    leave(send(session, call(1, 7)));

    Tail again = send(session, call(2, 7));

    assertThat(again.isRepeating()).isTrue();
    assertThat(read(again)).contains("\"id\":2", "number 7");
    assertThat(executions(7)).isOne();
    // The answer was delivered.
    assertThat(read(send(session, call(3, 7)))).contains("\"id\":3");
    assertThat(executions(7)).isEqualTo(2);
  }

  /** Another replica took this one for lost before the log knew the call. */
  @Test
  void shouldNotExecuteACallThatAnotherReplicaExecutes() {
    Session session = fixture.open(RelayFixture.LOCAL);
    Exchange exchange = RelayFixture.exchange(session, Caller.UNKNOWN, body(call(1, 7)));
    String digest = CallDigest.of(session, exchange).orElseThrow();
    fixture.log.afterOpen =
        stream -> {
          StreamRef another = new StreamRef(stream.key(), "another");
          CallIndex.Entry other = new CallIndex.Entry(another, "other/1");
          CallIndex.Entry own = fixture.calls.exchange(digest, other, other, Duration.ZERO);
          assertThat(own).isNotNull();
          var _ = fixture.calls.exchange(digest, own, other, Duration.ZERO);
        };

    // The failure is an exception if it comes before the head of the response.
    try {
      assertThat(read(send(session, call(1, 7)))).contains("\"error\"");
    } catch (UpstreamException.Busy beforeTheHead) {
      assertThat(beforeTheHead.limit()).isEqualTo(UpstreamException.Busy.Limit.REQUESTS);
    }
    assertThat(executions(7)).isZero();
  }

  @Test
  void shouldExecuteAfterTheWindow() {
    Session session = fixture.open(RelayFixture.LOCAL);
    leave(send(session, call(1, 7)));
    fixture.pass(Duration.ofMinutes(1));

    assertThat(read(send(session, call(2, 7)))).contains("number 7");

    assertThat(executions(7)).isEqualTo(2);
  }

  @Test
  void shouldExecuteOnceMoreAfterAResumedResult() {
    Session session = fixture.open(RelayFixture.LOCAL);
    Tail first = send(session, call(1, 7));
    leave(first);
    EventId start = new EventId(first.stream().name(), Position.START);
    Tail resumed = fixture.follower.resume(session, start, null).orElseThrow();
    assertThat(read(resumed)).contains("\"id\":1", "number 7");

    assertThat(send(session, call(2, 7)).isRepeating()).isFalse();
  }

  @Test
  void shouldKnowNamelessClientsByTheirSessionAlone() {
    Session one = fixture.open(RelayFixture.LOCAL);
    Session other = fixture.open(RelayFixture.LOCAL);
    leave(send(one, call(1, 7)));

    assertThat(send(other, call(2, 7)).isRepeating()).isFalse();
    assertThat(send(one, call(2, 7)).isRepeating()).isTrue();
    // Clients without sessions may share one.
    leave(send(one, Caller.UNKNOWN, call(3, 8), SINGLE));
    assertThat(send(one, Caller.UNKNOWN, call(4, 8), SINGLE).isRepeating()).isFalse();
  }

  @Test
  void shouldKnowNamedClientsInAnySession() {
    Session one = fixture.open(RelayFixture.LOCAL, ALICE);
    Session other = fixture.open(RelayFixture.LOCAL, ALICE);
    leave(send(one, ALICE, call(1, 7), new Conversation.Streamable(one.id())));

    Tail again = send(other, ALICE, call(2, 7), SINGLE);

    assertThat(again.isRepeating()).isTrue();
    assertThat(read(again)).contains("\"id\":2", "number 7");
    assertThat(executions(7)).isOne();
  }

  @Test
  void shouldNeverJoinDifferentCalls() {
    Session session = fixture.open(RelayFixture.LOCAL);

    for (int number = 0; number < 10_000; number++) {
      leave(send(session, call(number, number)));
      await()
          .pollDelay(Duration.ZERO)
          .pollInterval(Duration.ofMillis(1))
          .until(() -> !fixture.isAnswering(session));
    }

    assertThat(executions).hasSize(10_000).allSatisfy((_, count) -> assertThat(count).hasValue(1));
    assertThat(fixture.repeated).isEmpty();
  }
}
