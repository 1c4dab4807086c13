package dev.holdfast.docs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.PackagedProgram;
import dev.holdfast.testing.Ports;
import dev.holdfast.testing.RedisFixture;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Runs the script of docs/walk.md: a call outlives its client and its replica. */
@Timeout(300)
class WalkIT {

  @Test
  void shouldCollectTheResultOfACallWhoseReplicaWasKilled() throws Exception {
    try (RedisFixture redis = RedisFixture.start()) {
      ProcessBuilder script =
          new ProcessBuilder("bash", Path.of("examples", "walk.sh").toString())
              .redirectErrorStream(true);
      script
          .environment()
          .putAll(
              Map.of(
                  "REDIS",
                  redis.url(),
                  "HOLDFAST",
                  String.join(
                      " ",
                      PackagedProgram.command(PackagedProgram.shortLived("-Xmx256m"), List.of())),
                  "SERVER",
                  String.valueOf(Ports.free()),
                  "FIRST",
                  String.valueOf(Ports.free()),
                  "SECOND",
                  String.valueOf(Ports.free())));

      Process walk = script.start();
      String printed = new String(walk.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

      assertThat(walk.waitFor()).as(printed).isZero();
      assertThat(printed)
          .containsSubsequence(
              "countdown is still running",
              "Killing the replica",
              "\"text\":\"The call is still running",
              "\"text\":\"liftoff\"")
          .doesNotContain("outcome");
    }
  }
}
