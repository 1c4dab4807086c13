package dev.holdfast.simulation;

import dev.holdfast.testing.RedisFixture;

/**
 * Work that a Redis server has done since its start.
 *
 * @param commands commands, also those within scripts
 * @param cpuSeconds time of processors
 */
record RedisUse(long commands, double cpuSeconds) {

  static RedisUse of(RedisFixture redis) {
    return new RedisUse(
        Long.parseLong(redis.info("total_commands_processed")),
        Double.parseDouble(redis.info("used_cpu_user"))
            + Double.parseDouble(redis.info("used_cpu_sys")));
  }

  RedisUse since(RedisUse before) {
    return new RedisUse(commands - before.commands, cpuSeconds - before.cpuSeconds);
  }
}
