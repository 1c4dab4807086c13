package dev.holdfast.log;

import static dev.holdfast.log.LogTesting.last;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.relay.LogFixture;
import dev.holdfast.relay.tail.TestConnection;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How long the log keeps a result that its client was sent. */
interface DeliveredResultContract extends EventLogFixture {

  /** Runs a call whose client stays until its end. Returns the position of the result. */
  private static Position call(LogFixture fixture, String stream, Duration took) {
    StreamWriter writer = fixture.open(stream);
    TestConnection client = fixture.follow(stream);
    fixture.now.addAndGet(took.toMillis());
    Position end = writer.append(List.of(last("end")));
    client.awaitEnd();
    await().until(fixture.tails::isEmpty);
    return end;
  }

  /** A client that was away for the last seconds of a long call must find its result. */
  @Test
  default void shouldKeepTheDeliveredResultOfALongCallOnly() {
    Duration brief = Duration.ofMillis(300);
    LogFixture fixture = new LogFixture();
    fixture.log =
        begun(LogTesting.retention(Duration.ofHours(1), brief, 1000, Duration.ofHours(1), 10));
    fixture.log.begin(LogFixture.SESSION, "");
    Position ofLong = call(fixture, "long", Duration.ofSeconds(11));
    Position ofShort = call(fixture, "short", Duration.ofSeconds(10));

    pass(brief);

    await()
        .untilAsserted(() ->
            assertThat(fixture.log.read(LogFixture.ref("short"), ofShort, 1))
                .isEqualTo(new ReadResult.NoSuchStream()));
    assertThat(fixture.log.read(LogFixture.ref("long"), ofLong, 1))
        .isEqualTo(new ReadResult.EndOfStream());
  }
}
