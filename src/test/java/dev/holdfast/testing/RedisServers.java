package dev.holdfast.testing;

import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;

/** What the fixtures with several Redis servers share. */
final class RedisServers {

  private static final Duration TO_START = Duration.ofSeconds(30);

  private RedisServers() {}

  /** Waits until servers that have just started reach a state. */
  static void awaitStart(Callable<Boolean> condition) {
    await()
        .atMost(TO_START)
        .pollInterval(Duration.ofMillis(20))
        .ignoreExceptions()
        .until(condition);
  }

  /** The addresses of servers, in the format of {@code quarkus.redis.hosts}. */
  static String hosts(List<RedisFixture> servers) {
    return servers.stream().map(RedisFixture::url).collect(Collectors.joining(","));
  }
}
