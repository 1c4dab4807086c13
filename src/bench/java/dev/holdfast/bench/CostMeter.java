package dev.holdfast.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Measures what the operations of a load cost a contender and Redis. For one load. */
final class CostMeter {

  private static final Pattern ALLOCATED = Pattern.compile(" allocated=(\\d+)([BKMG])");
  private static final double KILO = 1000;

  private final BenchmarkEnvironment lab;
  private final Contender contender;
  private @Nullable Reading before;
  private @Nullable Reading after;

  CostMeter(BenchmarkEnvironment lab, Contender contender) {
    this.lab = lab;
    this.contender = contender;
  }

  /** What was used until now. */
  private record Reading(ProcessUse own, ProcessUse redis, double allocated, double commands) {}

  /** The operations begin. */
  void start() {
    before = read();
  }

  /** The operations are done. */
  void stop() {
    after = read();
  }

  /** Adds what one operation has cost, if something stands between client and server. */
  void addTo(BenchmarkResults into, Operation operation, double count) {
    if (before == null || after == null || contender == Contender.DIRECT) {
      return;
    }
    ProcessUse own = after.own.since(before.own);
    into.add(operation.cpu(), contender, own.cpuMicros(false) / count);
    into.add(operation.switches(), contender, own.switches() / count);
    if (contender.runsOnJvm()) {
      into.add(operation.compilers(), contender, own.cpuMicros(true) / count);
      into.add(
          operation.allocated(), contender, (after.allocated - before.allocated) / KILO / count);
    }
    if (contender.writesToRedis()) {
      double redis = after.redis.since(before.redis).cpuMicros(false);
      into.add(operation.redisCpu(), contender, redis / count);
      into.add(operation.redisCommands(), contender, (after.commands - before.commands) / count);
    }
  }

  private Reading read() {
    try {
      List<ProcessHandle> own = lab.processes(contender);
      return new Reading(
          ProcessUse.of(own),
          ProcessUse.of(lab.redisProcess()),
          contender.runsOnJvm() ? allocated(own.getFirst().pid()) : 0,
          lab.redisCommands());
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Bytes that all threads have allocated; within 1 % of what they have allocated since start. */
  private static double allocated(long pid) throws IOException {
    return ALLOCATED
        .matcher(ProcessMemory.jcmd(pid, "Thread.print", "-e"))
        .results()
        .mapToDouble(found ->
            Long.parseLong(found.group(1)) * Math.pow(1024, "BKMG".indexOf(found.group(2))))
        .sum();
  }
}
