package dev.holdfast.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.testing.Gateway;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** How much memory a running gateway takes. Linux only. */
final class ProcessMemory {

  private static final Duration POLL = Duration.ofMillis(250);
  private static final int CALM_POLLS = 8;
  private static final int POLLS = 80;
  private static final double CALM = 0.002;
  private static final int KIBI = 1024;

  private final Gateway gateway;

  ProcessMemory(Gateway gateway) {
    this.gateway = gateway;
  }

  /**
   * Waits until the resident set hasn't changed by more than 0.2 % for two seconds, at most twenty.
   *
   * @return its size in bytes
   */
  long settledRss() throws IOException, InterruptedException {
    long settled = rss();
    int calm = 0;
    for (int polls = 0; calm < CALM_POLLS && polls < POLLS; polls++) {
      Thread.sleep(POLL);
      long now = rss();
      if (Math.abs(now - settled) <= settled * CALM) {
        calm++;
      } else {
        settled = now;
        calm = 0;
      }
    }
    return rss();
  }

  /**
   * Collects garbage and gives what is left.
   *
   * @return used heap in bytes
   */
  long liveHeap() throws IOException, InterruptedException {
    String _ = jcmd(gateway.pid(), "GC.run");
    try (HttpClient http = HttpClient.newHttpClient()) {
      HttpRequest metrics = HttpRequest.newBuilder(gateway.url("/q/metrics")).build();
      return (long)
          http.send(metrics, BodyHandlers.ofLines())
              .body()
              .filter(line -> line.startsWith("jvm_memory_used_bytes{area=\"heap\""))
              .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
              .sum();
    }
  }

  /** Gives a command to a JVM and returns its answer. */
  static String jcmd(long pid, String... command) throws IOException {
    List<String> words = new ArrayList<>();
    words.add(Path.of(System.getProperty("java.home"), "bin", "jcmd").toString());
    words.add(Long.toString(pid));
    words.addAll(List.of(command));
    Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
    String answer = new String(process.getInputStream().readAllBytes(), UTF_8);
    if (process.onExit().join().exitValue() != 0) {
      throw new IllegalStateException("jcmd failed: " + answer);
    }
    return answer;
  }

  private long rss() throws IOException {
    return Files.readAllLines(Path.of("/proc", Long.toString(gateway.pid()), "status")).stream()
        .filter(line -> line.startsWith("VmRSS:"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * KIBI)
        .findFirst()
        .orElseThrow();
  }
}
