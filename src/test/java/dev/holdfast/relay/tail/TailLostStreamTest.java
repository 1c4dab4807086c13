package dev.holdfast.relay.tail;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.log.LogEvent;
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
    AwaitedRequests awaited = new AwaitedRequests(true);
    awaited.begin(RequestId.parse("1,\"two\""));
    awaited.begin(RequestId.parse("3"));
    append(result("1"));
    append("{\"jsonrpc\":\"2.0\",\"method\":\"m\"}");
    append(result("3"));

    awaited.delivered(fixture.events("s"));
    assertThat(awaited.streamLost()).hasSize(1);
    append(result("\"two\""));
    awaited.delivered(fixture.events("s"));
    assertThat(awaited.streamLost()).isEmpty();
  }

  @Test
  void shouldAwaitABoundedNumberOfRequests() {
    AwaitedRequests awaited = new AwaitedRequests(true);
    for (int i = 0; i < 20_000; i++) {
      awaited.begin(RequestId.parse(Integer.toString(i)));
    }

    assertThat(awaited.streamLost()).hasSize(10_000);
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
