package dev.holdfast.log.redis.write;

import static dev.holdfast.log.LogTesting.event;
import static dev.holdfast.log.LogTesting.last;
import static dev.holdfast.log.LogTesting.payloads;
import static dev.holdfast.log.LogTesting.readAll;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.holdfast.log.LogEvent;
import dev.holdfast.log.LogException;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.redis.Replica;
import dev.holdfast.log.redis.SharedStreamFixture;
import dev.holdfast.log.redis.script.StreamScripts;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Batches that are appended to a shared stream, in whatever order their commands arrive. */
class AppendToSharedStreamIT extends SharedStreamFixture {

  private static final String OWNER = "a f00d";

  private final StreamScripts streams = new StreamScripts(a.client, Replica.KEYS, "a", RETENTION);
  private final AppendScripts scripts = new AppendScripts(a.client, Replica.KEYS, "a", RETENTION);

  private Position append(long had, NewEvent... events) {
    return scripts
        .appendToShared(ref, shared, OWNER, new Position(0, had), "-", List.of(events))
        .last();
  }

  @Test
  void shouldFindTheRetryOfABatch() {
    streams.open(ref, OWNER, "1", "", "m", false);

    append(0, event("1"), event("2"));
    Position again = append(0, event("1"), event("2"));

    assertThat(again).isEqualTo(new Position(0, 2));
    assertThat(readShared()).containsExactly("1", "2");
  }

  @Test
  void shouldFindTheRetryOfTheBatchThatCompletedAStream() {
    streams.open(ref, OWNER, "1", "", "m", false);
    append(0, event("1"));

    append(1, event("2"), last("3"));
    Position again = append(1, event("2"), last("3"));

    assertThat(again).isEqualTo(new Position(0, 3));
    assertThat(readShared()).containsExactly("1", "2", "3");
  }

  @Test
  void shouldRefuseABatchThatWasOvertaken() {
    streams.open(ref, OWNER, "1", "", "m", false);
    append(0, event("1"));
    append(1, event("2"), event("3"));

    assertThatExceptionOfType(LogException.Fenced.class).isThrownBy(() -> append(1, event("2")));
    append(3, last("4"));
    assertThatExceptionOfType(LogException.Fenced.class)
        .isThrownBy(() -> append(1, event("2"), event("3")));

    assertThat(readShared()).containsExactly("1", "2", "3", "4");
  }

  @Test
  void shouldLeaveAGapWhereRedisHasLostEvents() {
    streams.open(ref, OWNER, "1", "", "m", false);
    append(0, event("1"));
    Position before = readAll(a.log, shared, Position.START).getFirst().position();

    // As if two further events had been written, and lost in a failover.
    append(3, event("4"));

    assertThat(b.log.read(shared, before, 10)).isInstanceOf(ReadResult.Gap.class);
    ReadResult.Gap gap = (ReadResult.Gap) b.log.read(shared, before, 10);
    assertThat(gap.firstAvailable()).isNotNull();
    List<LogEvent> rest = readAll(b.log, shared, gap.resumeAfter().orElseThrow());
    assertThat(payloads(rest)).containsExactly("4");
    assertThat(rest.getFirst().position().number()).isEqualTo(4);
  }

  /** A command that arrives late would open the complete stream without a writer. */
  @Test
  void shouldNotOpenACompleteStreamAgain() {
    streams.open(ref, OWNER, "1", "", "m", false);
    append(0, last("answer"));

    assertThatExceptionOfType(LogException.Fenced.class)
        .isThrownBy(() -> streams.open(ref, OWNER, "1", "", "m", false));

    assertThat(readShared()).containsExactly("answer");
  }
}
