package dev.holdfast.log.redis;

import static dev.holdfast.log.LogTesting.events;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.EventLogContract;
import dev.holdfast.log.NewEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.Retention;
import dev.holdfast.log.StreamWriter;
import dev.holdfast.testing.RedisFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class RedisEventLogIT extends EventLogContract {

  @AutoClose private static final RedisFixture redis = RedisFixture.start();

  private final List<Replica> replicas = new ArrayList<>();

  @AfterEach
  void stopReplicas() {
    replicas.forEach(Replica::close);
  }

  @Override
  protected EventLog create(Retention retention) {
    Replica replica = new Replica("r" + replicas.size(), redis.url(), retention);
    replicas.add(replica);
    return replica.log;
  }

  @Override
  public void pass(Duration time) {
    // Redis has a clock of its own; the tests wait.
  }

  @Override
  public int trimmingStep() {
    return 100;
  }

  @Test
  void shouldSayWhatMemoryRedisTakes() {
    assertThat(log.depth().events()).isEmpty();
    assertThat(log.depth().bytes().orElseThrow()).isPositive();
  }

  /** A reader that cuts a page after it has fetched all of it has no bound. */
  @Test
  void shouldFetchNoMoreThanAPage() {
    StreamWriter writer = log.open(ref, "1");
    for (int n = 1; n <= 50; n++) {
      writer.append(List.of(new NewEvent(new byte[1 << 20], null, false)));
    }
    long before = sent();

    assertThat(events(log.read(ref, Position.START, 500, 1 << 20))).hasSize(1);

    assertThat(sent() - before).isLessThan(3 << 20);
  }

  /** The bytes that Redis has sent. */
  private static long sent() {
    return redis
        .reply("INFO", "stats")
        .getFirst()
        .lines()
        .filter(line -> line.startsWith("total_net_output_bytes:"))
        .mapToLong(line -> Long.parseLong(line.substring(line.indexOf(':') + 1).trim()))
        .findFirst()
        .orElseThrow();
  }
}
