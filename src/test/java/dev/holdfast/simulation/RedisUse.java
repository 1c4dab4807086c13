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
    String info = redis.reply("INFO").getFirst();
    return new RedisUse(
        (long) value(info, "total_commands_processed"),
        value(info, "used_cpu_user") + value(info, "used_cpu_sys"));
  }

  private static double value(String info, String name) {
    int begin = info.indexOf("\n" + name + ":") + name.length() + 2;
    return Double.parseDouble(info.substring(begin, info.indexOf('\r', begin)));
  }

  RedisUse since(RedisUse before) {
    return new RedisUse(commands - before.commands, cpuSeconds - before.cpuSeconds);
  }
}
