package dev.holdfast.log;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.log.CallIndex.Entry;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Behaviour of every index of calls. */
public abstract class CallIndexContract {

  private static final Duration LONG = Duration.ofHours(1);
  private static final StreamRef STREAM = new StreamRef(new LogKey("session"), "stream");
  private static final Entry ONE = new Entry(STREAM, "replica-1/a");
  private static final Entry TWO = new Entry(STREAM, "replica-2/b");

  /** The index under test, empty at first. */
  protected abstract CallIndex index();

  @Test
  void shouldAddAnEntryOnce() {
    assertThat(index().exchange("call", null, ONE, LONG)).isNull();
    assertThat(index().exchange("call", null, TWO, LONG)).isEqualTo(ONE);
    assertThat(index().exchange("other", null, TWO, LONG)).isNull();
  }

  @Test
  void shouldReplaceOnlyTheExpectedEntry() {
    assertThat(index().exchange("call", null, ONE, LONG)).isNull();

    assertThat(index().exchange("call", TWO, null, LONG)).isEqualTo(ONE);
    assertThat(index().exchange("call", ONE, TWO, Duration.ZERO)).isEqualTo(ONE);
    assertThat(index().exchange("call", ONE, null, Duration.ZERO)).isEqualTo(TWO);
    assertThat(index().exchange("call", TWO, null, Duration.ZERO)).isEqualTo(TWO);
    assertThat(index().exchange("call", null, ONE, LONG)).isNull();
  }

  @Test
  void shouldSucceedAgainAfterALostReply() {
    assertThat(index().exchange("call", null, ONE, LONG)).isNull();
    assertThat(index().exchange("call", null, ONE, LONG)).isNull();
    assertThat(index().exchange("call", ONE, TWO, LONG)).isEqualTo(ONE);
    assertThat(index().exchange("call", ONE, TWO, LONG)).isEqualTo(ONE);
  }

  @Test
  void shouldForgetAnEntryThatWasReplacedAfterItsTime() {
    Duration life = Duration.ofMillis(200);
    assertThat(index().exchange("call", null, ONE, life)).isNull();
    assertThat(index().exchange("call", ONE, TWO, Duration.ZERO)).isEqualTo(ONE);

    pass(life);

    assertThat(index().exchange("call", null, ONE, LONG)).isNull();
  }

  @Test
  void shouldKnowWhichResultsWereRead() {
    assertThat(index().isRead(STREAM)).isFalse();

    index().markRead(STREAM, LONG);

    assertThat(index().isRead(STREAM)).isTrue();
    assertThat(index().isRead(new StreamRef(STREAM.key(), "another"))).isFalse();
  }

  @Test
  void shouldTellTheReplicaOfAReader() {
    assertThat(ONE.replica()).isEqualTo("replica-1");
    assertThat(ONE.readBy(CallIndex.NOBODY).isFree()).isTrue();
    assertThat(ONE.isFree()).isFalse();
  }

  /** Lets time pass. */
  protected abstract void pass(Duration time);
}
