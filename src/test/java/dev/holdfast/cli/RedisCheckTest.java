package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Checks the results for servers that tests cannot start: an old one, or one with a full disk. */
class RedisCheckTest {

  @ParameterizedTest
  @CsvSource({
    "6.2.0, FINE",
    "6.10.1, FINE",
    "7.0.15, FINE",
    "10.0.0, FINE",
    "6.0.16, WRONG",
    "5.9.9, WRONG",
    "unstable, WRONG",
  })
  void shouldCheckTheVersion(String version, CheckResult.Verdict verdict) {
    CheckResult result = RedisCheck.version(Map.of("redis_version", version));

    assertThat(result.verdict()).isEqualTo(verdict);
    assertThat(result.found()).isEqualTo(version);
  }

  @Test
  void shouldDoubtAPrimaryThatGoesOnAlone() {
    Map<String, String> replicated = Map.of("connected_slaves", "2");

    assertThat(RedisCheck.replication(Map.of(), Optional::empty)).isEmpty();
    assertThat(RedisCheck.replication(Map.of("connected_slaves", "0"), Optional::empty)).isEmpty();
    assertThat(RedisCheck.replication(replicated, () -> Optional.of("0")))
        .hasValueSatisfying(
            result -> assertThat(result.fix()).isEqualTo("set min-replicas-to-write 1"));
    assertThat(RedisCheck.replication(replicated, () -> Optional.of("1")))
        .hasValueSatisfying(
            result -> assertThat(result.verdict()).isEqualTo(CheckResult.Verdict.FINE));
  }

  /** After a failed save, Redis refuses writes (MISCONF) or keeps them in memory only. */
  @ParameterizedTest
  @CsvSource({"rdb_last_bgsave_status, 0", "aof_last_write_status, 1"})
  void shouldReportAFailedWriteToDisk(String status, String aof) {
    Map<String, String> info = Map.of("aof_enabled", aof, status, "err");

    CheckResult result = RedisCheck.persistence(info, () -> Optional.of("3600 1"));

    assertThat(result.verdict()).isEqualTo(CheckResult.Verdict.WRONG);
    assertThat(result.found()).contains("the last write to disk failed");
    assertThat(result.fix()).contains("disk of Redis");
  }

  @Test
  void shouldReportMissingRedisInfo() {
    assertThat(RedisCheck.version(Map.of()).found()).isEqualTo("Redis does not report it");
    assertThat(RedisCheck.maxMemory(Map.of(), 1).verdict()).isEqualTo(CheckResult.Verdict.DOUBTFUL);
    assertThat(RedisCheck.persistence(Map.of(), Optional::empty).verdict())
        .isEqualTo(CheckResult.Verdict.DOUBTFUL);
  }
}
