package dev.holdfast.relay.tail;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.log.LogEvent;
import dev.holdfast.log.LogTesting;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.LogFixture;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Clients whose stream the store loses while requests are open. */
@Timeout(30)
class TailLostStreamTest {

  private static final String REQUESTS = "1,\"two\",3";

  private final LogFixture fixture = new LogFixture();
  private final StreamWriter writer = fixture.log.open(LogFixture.ref("s"), REQUESTS);

  private static String result(String id) {
    return "{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"result\":{}}";
  }

  private void append(String message) {
    writer.append(List.of(new NewEvent(message.getBytes(UTF_8), null, false)));
  }

  private static void assertErrors(TestConnection client, String... ids) {
    assertThat(client.text().lines().filter(line -> line.contains("\"error\"")))
        .hasSize(ids.length)
        .allMatch(line -> line.contains("the outcome of the request is unknown"));
    for (String id : ids) {
      assertThat(client.text()).containsOnlyOnce("\"id\":" + id + ",\"error\"");
    }
  }

  /** Before, a client with a batch got no error at all. */
  @Test
  void shouldGiveAnErrorToEachOpenRequestOfABatch() {
    Tail tail =
        fixture.tail("s", Position.START, TailKind.REQUEST).answering(RequestId.parse(REQUESTS));
    TestConnection client = LogFixture.run(tail, new TestConnection());
    append(result("\"two\""));
    client.await(c -> c.data().size() == 1);

    fixture.log.end(LogFixture.SESSION);
    client.awaitEnd();

    assertErrors(client, "1", "3");
  }

  /** The tail of a shared stream, over HTTP with SSE. */
  @Test
  void shouldGiveErrorsToTheOpenRequestsOfASession() {
    fixture.log.openShared(LogFixture.ref("m"));
    TestConnection client = new TestConnection();
    LogFixture.run(sharedTail(), client);
    client.await(c -> c.text().contains("/messages"));
    StreamWriter one = fixture.log.open(LogFixture.ref("a"), "1,\"two\"", "m");
    StreamWriter other = fixture.log.open(LogFixture.ref("b"), "3", "m");
    one.append(List.of(LogTesting.event(result("1"))));
    one.append(List.of(LogTesting.event("{\"jsonrpc\":\"2.0\",\"method\":\"m\"}")));
    other.append(List.of(LogTesting.last(result("3"))));
    client.await(c -> c.text().contains("\"id\":3"));

    fixture.log.end(LogFixture.SESSION);
    client.awaitEnd();

    assertErrors(client, "\"two\"");
  }

  private Tail sharedTail() {
    return new Tail(
        fixture.context(),
        LogFixture.ref("m"),
        new EventFraming("m", true, true, true, "/messages"),
        Position.START,
        TailKind.REQUEST,
        fixture.heard,
        () -> true);
  }

  @Test
  void shouldKnowWhichRequestsWereAnsweredBeforeTheClientResumed() {
    append(result("3"));
    append(result("1"));
    append("{\"jsonrpc\":\"2.0\",\"method\":\"m\"}");
    List<LogEvent> events = fixture.events("s");
    TestConnection before = fixture.follow("s", Position.START, TailKind.FROM_START);
    before.await(c -> c.data().size() == 3); // Later it would evict the tail of the next client.
    Position cursor = events.getFirst().position();
    TestConnection client = fixture.follow("s", cursor, TailKind.RESUMED);
    client.await(c -> c.data().size() == 2);

    fixture.log.end(LogFixture.SESSION);
    client.awaitEnd();

    assertErrors(client, "\"two\"");
  }
}
