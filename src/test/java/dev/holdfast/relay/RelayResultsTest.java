package dev.holdfast.relay;

import static dev.holdfast.relay.RelayFixture.SCRIPTED;
import static dev.holdfast.relay.RelayFixture.call;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.relay.stream.StreamListener.Result;
import dev.holdfast.relay.tail.TestConnection;
import dev.holdfast.session.Session;
import dev.holdfast.upstream.Answer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Reports on results and the clients that they are for. */
@Timeout(30)
class RelayResultsTest {

  private static final String PROGRESS =
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}";
  private static final String RESULT = "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}";

  private final RelayFixture fixture = new RelayFixture();
  private final ScriptedSource source = new ScriptedSource();
  private final Session session = fixture.open(SCRIPTED);

  @AfterEach
  void close() {
    fixture.close();
  }

  private TestConnection called() {
    fixture.scripted.answer = _ -> new Answer.Stream(source);
    TestConnection client = fixture.follow(session, call("7", "slow"));
    source.bring(PROGRESS);
    await().until(() -> !client.events().isEmpty());
    return client;
  }

  @Test
  void shouldReportAResultThatComesAfterItsClientHasLeft() {
    TestConnection client = called();
    client.leave();
    await().until(() -> fixture.heard.connections.get() == 0);

    source.bring(RESULT);

    await().until(() -> fixture.logged(session, client).contains(RESULT));
    await()
        .untilAsserted(() -> assertThat(fixture.heard.results).containsExactly(Result.UNATTENDED));
  }

  @Test
  void shouldReportNothingOfAResultThatItsClientGets() {
    TestConnection client = called();

    source.bring(RESULT);
    client.awaitEnd();

    await().until(() -> !fixture.isPumping(session));
    assertThat(fixture.heard.results).isEmpty();
  }
}
