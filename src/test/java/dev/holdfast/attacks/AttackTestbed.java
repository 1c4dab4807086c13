package dev.holdfast.attacks;

import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.RedisFixture;
import dev.holdfast.testing.ResourceUsage;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** The packaged program with a heap of 256 MB, one of the stores, and a server behind it. */
final class AttackTestbed implements AutoCloseable {

  enum Store {
    MEMORY,
    REDIS
  }

  private final Store store;
  private final AttackServer server = new AttackServer();
  private final @Nullable RedisFixture redis;
  private final Gateway gateway;

  AttackTestbed(Store store) {
    this.store = store;
    redis = store == Store.REDIS ? RedisFixture.start() : null;
    Map<String, String> settings = new HashMap<>();
    settings.put("holdfast.upstream.url", server.url().toString());
    if (redis != null) {
      settings.putAll(redis.gatewaySettings());
    }
    gateway = Gateway.start(settings, "-Xmx256m", "-XX:TieredStopAtLevel=1");
  }

  Store store() {
    return store;
  }

  URI url() {
    return gateway.url();
  }

  String output() {
    return gateway.output();
  }

  boolean isRunning() {
    return ProcessHandle.of(gateway.pid()).map(ProcessHandle::isAlive).orElse(false);
  }

  /** The live objects of the gateway in bytes; -1 when it cannot be asked. */
  long heap() {
    try {
      return ResourceUsage.of(gateway).heap();
    } catch (RuntimeException dead) {
      return -1;
    }
  }

  /** The memory of Redis in bytes. */
  long redisBytes() {
    if (redis == null) {
      return 0;
    }
    return Long.parseLong(redis.info("used_memory"));
  }

  /** Begins to observe the memory of Redis. */
  RedisPeak observeRedis() {
    return new RedisPeak();
  }

  /** The highest memory of Redis from its creation on. */
  final class RedisPeak implements AutoCloseable {

    private static final Duration INTERVAL = Duration.ofMillis(250);

    private final AtomicLong peak = new AtomicLong();
    private final Thread thread = Thread.ofVirtual().start(this::observe);

    private void observe() {
      try {
        while (redis != null) {
          bytes();
          Thread.sleep(INTERVAL);
        }
      } catch (InterruptedException closed) {
        Thread.currentThread().interrupt();
      }
    }

    /** The highest memory so far. */
    long bytes() {
      return peak.accumulateAndGet(redisBytes(), Math::max);
    }

    @Override
    public void close() {
      thread.interrupt();
    }
  }

  @Override
  public void close() {
    gateway.close();
    server.close();
    if (redis != null) {
      redis.close();
    }
  }
}
