package dev.holdfast.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * CPU time and context switches of the threads of one or more processes. Linux only. Threads that
 * end between two readings are left out.
 */
record ProcessUse(Map<Path, ThreadUse> threads) {

  private static final double NANOS_PER_MICRO = 1000;

  /**
   * CPU time and context switches of a thread.
   *
   * @param compiler whether the thread compiles Java code
   */
  private record ThreadUse(boolean compiler, long cpuNanos, long switches) {

    static final ThreadUse NONE = new ThreadUse(false, 0, 0);

    static ThreadUse of(Path thread) throws IOException {
      String name = Files.readString(thread.resolve("comm"));
      String[] schedule = Files.readString(thread.resolve("schedstat")).split(" ", 2);
      long switches = 0;
      for (String line : Files.readAllLines(thread.resolve("status"))) {
        switches +=
            line.contains("ctxt_switches:") ? Long.parseLong(line.replaceAll("\\D", "")) : 0;
      }
      boolean compiler = name.startsWith("C1 Compiler") || name.startsWith("C2 Compiler");
      return new ThreadUse(compiler, Long.parseLong(schedule[0]), switches);
    }

    ThreadUse since(ThreadUse before) {
      return new ThreadUse(compiler, cpuNanos - before.cpuNanos, switches - before.switches);
    }
  }

  /** What processes have used so far. */
  static ProcessUse of(List<ProcessHandle> processes) {
    Map<Path, ThreadUse> threads = new HashMap<>();
    for (ProcessHandle process : processes) {
      Path tasks = Path.of("/proc", Long.toString(process.pid()), "task");
      try (Stream<Path> all = Files.list(tasks)) {
        for (Path thread : (Iterable<Path>) all::iterator) {
          try {
            threads.put(thread, ThreadUse.of(thread));
          } catch (NoSuchFileException ended) {
            threads.remove(thread);
          }
        }
      } catch (IOException failure) {
        throw new UncheckedIOException(failure);
      }
    }
    return new ProcessUse(threads);
  }

  /** What was used since an earlier reading. */
  ProcessUse since(ProcessUse before) {
    Map<Path, ThreadUse> used = new HashMap<>();
    threads.forEach((thread, use) ->
        used.put(thread, use.since(before.threads.getOrDefault(thread, ThreadUse.NONE))));
    return new ProcessUse(used);
  }

  /** CPU time in microseconds of the compiler threads, or of all others. */
  double cpuMicros(boolean compilers) {
    return threads.values().stream()
            .filter(thread -> thread.compiler == compilers)
            .mapToLong(ThreadUse::cpuNanos)
            .sum()
        / NANOS_PER_MICRO;
  }

  /** Context switches of all threads but the compilers. */
  long switches() {
    return threads.values().stream()
        .filter(thread -> !thread.compiler)
        .mapToLong(ThreadUse::switches)
        .sum();
  }
}
