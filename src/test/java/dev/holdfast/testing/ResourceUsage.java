package dev.holdfast.testing;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What a running gateway holds, after a collection of garbage. Linux only.
 *
 * @param descriptors open files and sockets
 * @param threads of the system; virtual ones are among the instances
 * @param resident memory of the process in bytes
 * @param heap live objects in bytes
 * @param instances live objects by class
 */
public record ResourceUsage(
    int descriptors, int threads, long resident, long heap, Map<String, Long> instances) {

  private static final Pattern CLASS =
      Pattern.compile("^\\s*\\d+:\\s+(\\d+)\\s+(\\d+)\\s+(\\S+).*$");

  /** There is one each as long as a stream, a connection or a call. */
  static final List<String> PASSING =
      List.of(
          "dev.holdfast.relay.tail.Tail",
          "dev.holdfast.relay.tail.TailSignal",
          "dev.holdfast.relay.pump.Pump",
          "dev.holdfast.relay.pump.StandaloneSource",
          "dev.holdfast.relay.session.RecentSessions$Use",
          "dev.holdfast.log.WatcherRegistry$Registration",
          "dev.holdfast.log.redis.LocalReaders$RecordedWatch",
          "dev.holdfast.log.redis.write.OwnedStream",
          "dev.holdfast.log.redis.write.RedisStreamWriter",
          "dev.holdfast.upstream.http.HttpExchange",
          "dev.holdfast.upstream.http.SseMessageSource",
          "dev.holdfast.http.limit.ConnectionLimit$Slot",
          "dev.holdfast.http.stream.HttpClientConnection");

  /** What a gateway holds now. */
  public static ResourceUsage of(Gateway gateway) {
    long pid = gateway.pid();
    Map<String, Long> instances = new HashMap<>();
    long heap = 0;
    if (PackagedProgram.isJar(PackagedProgram.PROGRAM)) {
      for (String line : jcmd(pid, "GC.class_histogram")) {
        Matcher found = CLASS.matcher(line);
        if (found.matches()) {
          instances.merge(found.group(3), Long.valueOf(found.group(1)), Long::sum);
          heap += Long.parseLong(found.group(2));
        }
      }
    } else {
      HeapDump dump = HeapDump.of(pid);
      instances.putAll(dump.instances());
      heap = dump.bytes();
    }
    int descriptors = count(Path.of("/proc", Long.toString(pid), "fd"));
    int threads = count(Path.of("/proc", Long.toString(pid), "task"));
    return new ResourceUsage(descriptors, threads, resident(pid), heap, Map.copyOf(instances));
  }

  /** What should be gone when nobody is there any more, and is not. */
  public List<String> leftovers() {
    List<String> left = new ArrayList<>();
    for (String name : PASSING) {
      if (instances.containsKey(name)) {
        left.add(instances.get(name) + " " + name);
      }
    }
    return left;
  }

  /** Timers that are set, in the places where this program and its libraries set some. */
  public long timers() {
    return Stream.of(
            "io.netty.util.concurrent.ScheduledFutureTask",
            "java.util.concurrent.ScheduledThreadPoolExecutor$ScheduledFutureTask",
            "java.util.concurrent.DelayScheduler$ScheduledForkJoinTask",
            "io.vertx.core.impl.VertxImpl$InternalTimerHandler")
        .mapToLong(name -> instances.getOrDefault(name, 0L))
        .sum();
  }

  @Override
  public String toString() {
    return "descriptors=%d threads=%d timers=%d heap=%.1fMB resident=%.1fMB"
        .formatted(descriptors, threads, timers(), heap / 1e6, resident / 1e6);
  }

  private static List<String> jcmd(long pid, String command) {
    String jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
    try {
      Process run =
          new ProcessBuilder(jcmd, Long.toString(pid), command).redirectErrorStream(true).start();
      List<String> said = new String(run.getInputStream().readAllBytes(), UTF_8).lines().toList();
      if (run.waitFor() != 0) {
        throw new IllegalStateException("jcmd failed: " + said);
      }
      return said;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(stopped);
    }
  }

  private static int count(Path directory) {
    try (Stream<Path> entries = Files.list(directory)) {
      return (int) entries.count();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** The resident memory of a process in bytes, without a collection. */
  public static long resident(long pid) {
    try {
      return Files.readAllLines(Path.of("/proc", Long.toString(pid), "status")).stream()
          .filter(line -> line.startsWith("VmRSS:"))
          .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1024)
          .findFirst()
          .orElseThrow();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
