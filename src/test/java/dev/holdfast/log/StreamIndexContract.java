package dev.holdfast.log;

import static dev.holdfast.log.LogTesting.event;
import static dev.holdfast.log.LogTesting.keeping;
import static dev.holdfast.log.LogTesting.last;
import static dev.holdfast.log.LogTesting.openAndLeave;
import static dev.holdfast.log.LogTesting.retention;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.log.LogTesting.CountingWatcher;
import dev.holdfast.log.StreamIndex.Details;
import dev.holdfast.log.StreamIndex.Opening;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Behaviour of every index of streams, from which operators read. */
interface StreamIndexContract extends EventLogFixture {

  /** Lists the streams of the log. */
  StreamIndex index();

  private Details details() {
    return index().find(ref()).orElseThrow().details();
  }

  @Test
  default void shouldTellOfACallUntilItExpires() {
    useLog(
        begun(retention(Duration.ofHours(1), Duration.ofSeconds(2), 100, Duration.ofHours(1), 9)));
    StreamWriter writer = log().open(ref(), "1", "deploy", null);

    Opening opening = requireNonNull(details().opening());
    assertThat(opening.tool()).isEqualTo("deploy");
    assertThat(details().left()).isNull();
    assertThat(details().newest().beginning()).isEmpty();
    writer.append(List.of(event("running")));
    assertThat(details().newest().beginning()).asString().isEqualTo("running");
    assertThat(index().list(ref().key(), 0, 9).streams())
        .singleElement()
        .matches(each -> opening.equals(each.details().opening()));

    writer.append(List.of(last("end")));

    assertThat(index().find(ref()).orElseThrow().open()).isFalse();
    assertThat(details().opening()).isEqualTo(opening);
    assertThat(details().newest().beginning()).asString().isEqualTo("end");
    assertThat(details().left()).isPositive();
    assertThat(details().delivered()).isFalse();
    log().markFullyDelivered(ref(), true);
    await().until(() -> details().delivered());
    log().markFullyDelivered(ref(), false);
    pass(Duration.ofSeconds(3));
    await().until(() -> index().find(ref()).isEmpty());
  }

  @Test
  default void shouldTellWhetherAClientIsConnected() {
    var _ = openAndLeave(log(), ref(), "1");
    await().until(() -> !details().followed());

    EventLog.Watch watch = log().watch(ref(), Position.START, new CountingWatcher());

    await().until(() -> details().followed());
    watch.leave(true);
    watch.close();
    await().until(() -> !details().followed());
  }

  @Test
  default void shouldKeepTheBeginningsOfLongTexts() {
    useLog(begun(keeping(100, 10)));
    StreamWriter writer = log().open(ref(), "1", "t".repeat(1000), null);
    writer.append(List.of(event("short")));
    pass(Duration.ofMillis(2));
    writer.append(List.of(event("x".repeat(5000))));

    assertThat(requireNonNull(details().opening()).tool()).isEqualTo("t".repeat(Opening.MOST));
    assertThat(details().newest().isWhole()).isFalse();
    assertThat(details().newest().beginning()).hasSize(StreamIndex.Message.MOST);
    assertThat(index().newestMessage(ref())).hasSize(5000);
  }

  @Test
  default void shouldTellNoOpeningOfAStreamWithoutRequests() {
    log().openUnfollowed(ref(), null).append(List.of(event("news")));

    assertThat(details().opening()).isNull();
    assertThat(index().find(new StreamRef(ref().key(), "none"))).isEmpty();
  }
}
