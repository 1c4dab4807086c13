package dev.holdfast.upstream.stdio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.UpstreamException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random output of hostile processes. Each of them ends as an answer or as a failure of the
 * upstream, leaves no process, and leaves other sessions alone.
 *
 * <p>Repeat a run with {@code -Dholdfast.seed=…}; a longer one has {@code -Dholdfast.cases=…}.
 */
@Timeout(120)
class HostileProcessTest {

  private static final long SEED = Long.getLong("holdfast.seed", System.nanoTime());
  private static final int CASES = Integer.getInteger("holdfast.cases", 24);

  private static final List<String> PIECES =
      List.of(
          "head -c 30000 /dev/urandom",
          "yes | head -c 300000",
          "head -c 1000000 /dev/zero | tr '\\0' x",
          "head -c 1000000 /dev/zero",
          "head -c 90000 /dev/zero | tr '\\0' '['; echo",
          "printf"
              + " '{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":\"2025-06-18\"}}\\n'",
          "i=0; while [ $i -lt 300 ]; do i=$((i+1));"
              + " echo '{\"jsonrpc\":\"2.0\",\"id\":'$i',\"method\":\"roots/list\"}'; done",
          "printf '{\"jsonrpc\":\"2.0\",\"id\":\"'; head -c 80000 /dev/zero | tr '\\0' i; echo"
              + " '\"}'",
          "printf '\\r\\n\\n\\377\\376\\n'");

  private static final List<String> ENDS =
      List.of("exit 1", "exec sleep 1000", "kill -9 $$", "exec cat", "exec 1>&-; exec sleep 1000");

  @TempDir private Path directory;

  @Test
  void shouldSurviveEveryOutput() throws Exception {
    System.out.println("HostileProcessTest: -Dholdfast.seed=" + SEED);
    try (StdioUpstream innocent = new ShellServer(directory).upstream();
        ExecutorService threads = Executors.newFixedThreadPool(8)) {
      StdioClient client = StdioClient.open(innocent);
      List<Future<?>> attacks = new ArrayList<>();
      for (int i = 0; i < CASES; i++) {
        Random random = new Random(SEED + i);
        attacks.add(threads.submit(() -> attack(random)));
      }

      for (Future<?> attack : attacks) {
        attack.get(); // Throws what is no failure of an upstream.
        assertThat(client.ask("1", "echo '" + StdioClient.response("1", "{}") + "'"))
            .as("seed %d", SEED)
            .contains("result");
      }
    }
  }

  private void attack(Random random) {
    StringBuilder script = new StringBuilder();
    for (int i = random.nextInt(4); i >= 0; i--) {
      script.append(any(PIECES, random)).append(random.nextInt(3) == 0 ? " >&2\n" : "\n");
    }
    StdioUpstream upstream =
        new ShellServer(directory)
            .runBy("/bin/sh", "-c", script + any(ENDS, random))
            .firstByteTimeout(Duration.ofSeconds(1))
            .stopGrace(Duration.ofMillis(200))
            .upstream();
    try (upstream) {
      Handshake handshake = StdioClient.initialize(upstream);
      assertThat(handshake.response()).isNotEmpty();
    } catch (UpstreamException e) {
      // This is how an attack should end.
    }
    await("processes of %s, seed %d".formatted(script, SEED)).until(() -> upstream.channels() == 0);
  }

  private static String any(List<String> choices, Random random) {
    return choices.get(random.nextInt(choices.size()));
  }
}
