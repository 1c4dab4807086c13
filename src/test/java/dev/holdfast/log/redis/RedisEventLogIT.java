package dev.holdfast.log.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.EventLogContract;
import dev.holdfast.log.Retention;
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
}
