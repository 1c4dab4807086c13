package dev.holdfast.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Says what the figures were measured on. */
final class Machine {

  private Machine() {}

  /** One line. */
  static String describe(BenchmarkEnvironment lab) {
    return "%d cores (%s), %s, JDK %s, Redis %s%s"
        .formatted(
            Runtime.getRuntime().availableProcessors(),
            processor(),
            System.getProperty("os.name") + " " + System.getProperty("os.version"),
            Runtime.version(),
            lab.redisVersion(),
            Nginx.executable().isPresent() ? ", " + Nginx.version() : ", no nginx");
  }

  private static String processor() {
    try {
      return Files.readAllLines(Path.of("/proc/cpuinfo")).stream()
          .filter(line -> line.startsWith("model name"))
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .findFirst()
          .orElse(System.getProperty("os.arch"));
    } catch (IOException unknown) {
      return System.getProperty("os.arch");
    }
  }
}
