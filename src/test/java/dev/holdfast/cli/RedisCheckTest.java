package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is made of a Redis that no test can have: an older one, and one with a full disk. */
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
  void shouldJudgeTheVersion(String version, Finding.Verdict verdict) {
    Finding finding = RedisCheck.version(Map.of("redis_version", version));

    assertThat(finding.verdict()).isEqualTo(verdict);
    assertThat(finding.found()).isEqualTo(version);
    assertThat(finding.storeAway()).isFalse();
  }

  /** With a failed save Redis refuses writes (MISCONF), or soon has nothing newer on disk. */
  @ParameterizedTest
  @CsvSource({"rdb_last_bgsave_status, 0", "aof_last_write_status, 1"})
  void shouldFindThatTheLastWriteToDiskFailed(String status, String aof) {
    Map<String, String> info = Map.of("aof_enabled", aof, status, "err");

    Finding finding = RedisCheck.persistence(info, () -> Optional.of("3600 1"));

    assertThat(finding.verdict()).isEqualTo(Finding.Verdict.WRONG);
    assertThat(finding.found()).contains("the last write to disk failed");
    assertThat(finding.mend()).contains("disk of Redis");
  }

  @Test
  void shouldSayWhatItIsNotTold() {
    assertThat(RedisCheck.version(Map.of()).found()).isEqualTo("Redis does not tell");
    assertThat(RedisCheck.persistence(Map.of(), Optional::empty).verdict())
        .isEqualTo(Finding.Verdict.DOUBTFUL);
  }
}
