package dev.holdfast.relay.tail;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.LogException;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.log.redis.RedisEventLog;
import dev.holdfast.log.redis.Replica;
import dev.holdfast.log.redis.ReplicasFixture;
import dev.holdfast.relay.LogFixture;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.RedisProxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Clients whose events have other positions in the log than those they were sent with. */
@Timeout(60)
class SameEventIT extends ReplicasFixture {

  private static final Pattern DATA = Pattern.compile("(?m)^data: (.+)$");

  /** Time in which the tail reads what the successor has logged so far. */
  private static final Duration SOON = Duration.ofMillis(500);

  private final LogFixture fixture = new LogFixture();
  private final RedisFixture redis = closing(RedisFixture.start());
  private final RedisProxy proxy = proxy(redis);
  private final RedisEventLog former = replica(redis, "a", proxy.url(), redis.url());
  private final RedisEventLog successor = replica(redis, "b");

  /** Events with the ids of their upstream. */
  private static List<NewEvent> fromUpstream(int from, int to) {
    return IntStream.rangeClosed(from, to)
        .mapToObj(n -> new NewEvent(Integer.toString(n).getBytes(UTF_8), "u" + n, false))
        .toList();
  }

  private static List<String> received(TestConnection client) {
    return DATA.matcher(client.text()).results().map((MatchResult each) -> each.group(1)).toList();
  }

  private StreamWriter open(RedisEventLog log, String stream) {
    log.begin(LogFixture.SESSION, "");
    fixture.log = log;
    return fixture.open(stream);
  }

  /**
   * The former owner delivers events past the log, and the successor logs the same events, before
   * the tail reads them or after.
   *
   * @param logged how many events the log has when the tail reads it
   */
  @ParameterizedTest
  @CsvSource({"STANDALONE, 6", "STANDALONE, 4", "RESUMED, 6", "REQUEST, 6", "REQUEST, 4"})
  void shouldGoOnAfterEventsThatAnotherReplicaLogged(TailKind kind, int logged) {
    String stream = kind == TailKind.STANDALONE ? StreamNames.STANDALONE : "s";
    StreamWriter writer = open(former, stream);
    TestConnection client = fixture.follow(stream, Position.START, kind);
    writer.append(fromUpstream(1, 3));
    client.await(c -> received(c).size() == 3);
    proxy.cut();
    List<NewEvent> held = fromUpstream(4, 5);
    assertThat(catchThrowable(() -> writer.append(held))).isInstanceOf(LogException.class);
    await().until(() -> writer.deliverUnlogged(held));
    client.await(c -> received(c).size() == 5);

    StreamWriter newer = successor.shared().adopt(LogFixture.SESSION, "a").getFirst().writer();
    newer.append(fromUpstream(4, logged));
    proxy.mend();
    await().until(() -> catchThrowable(writer::recordSkipped) instanceof LogException.Fenced);
    LockSupport.parkNanos(SOON.toNanos());
    newer.append(fromUpstream(logged + 1, 7));

    await().untilAsserted(() -> assertThat(received(client)).isEqualTo(LogFixture.numbers(1, 7)));
    assertThat(client.text()).doesNotContain("gap");
  }

  /** A primary loses its newest write, and the writer repeats it. */
  @Test
  void shouldGoOnAfterEventsThatWereLoggedAgain() {
    TestConnection client = loseTheNewest("u");

    await().untilAsserted(() -> assertThat(received(client)).isEqualTo(LogFixture.numbers(1, 4)));
    assertThat(client.text()).doesNotContain("gap");
  }

  /** Without ids of the upstream, it can be another event. */
  @Test
  void shouldNameTheGapAndGoOnWithWhatWasWrittenSince() {
    TestConnection client = loseTheNewest("x");

    await()
        .untilAsserted(() -> assertThat(received(client)).containsExactly("1", "2", "3", "3", "4"));
    assertThat(client.text()).containsOnlyOnce(": gap");
  }

  /** A client has three events. The store loses the third, has it again, and a fourth one. */
  private TestConnection loseTheNewest(String field) {
    StreamWriter writer = open(successor, StreamNames.STANDALONE);
    fixture.log = former;
    TestConnection client =
        fixture.follow(StreamNames.STANDALONE, Position.START, TailKind.STANDALONE);
    for (int n = 1; n <= 3; n++) {
      writer.append(fromUpstream(n, n));
      LockSupport.parkNanos(5_000_000);
    }
    client.await(c -> received(c).size() == 3);
    String key = Replica.KEYS.stream(LogFixture.SESSION.value(), StreamNames.STANDALONE);
    Position lost = fixture.events(StreamNames.STANDALONE).getLast().position();
    Position again = new Position(lost.millis() + 1, lost.number());

    redis.command("XDEL", key, lost.toString());
    redis.command("XADD", key, again.toString(), "d", "3", field, "u3");
    writer.append(fromUpstream(4, 4));
    return client;
  }
}
