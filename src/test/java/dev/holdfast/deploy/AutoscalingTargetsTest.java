package dev.holdfast.deploy;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The autoscaler's default targets give the pods that docs/scale.md names for its three sizes. */
class AutoscalingTargetsTest {

  private static final JsonNode SCALING =
      Yaml.read(Chart.RELEASED.directory().resolve("values.yaml")).get("autoscaling");
  private static final double CPU_TARGET =
      SCALING.get("targetCPUUtilizationPercentage").asInt() / 100.0;
  private static final double HEAP_TARGET = SCALING.at("/heap/targetPercentage").asInt() / 100.0;

  /** The image's share of the memory for the heap, and the collector's for the old generation. */
  private static final double OLD_SHARE = 0.5 * 2 / 3;

  private static final double MINUTE = 60;

  private static final String PAGE = read(Path.of("docs", "scale.md"));
  private static final List<Long> CLIENTS = row("clients");

  // What a client costs, in seconds of a core and in bytes.
  private static final double WAITING = number("a client that waits \\| ([\\d.]+) µs") / 1e6;
  private static final double CALL = number("a call of a tool \\| ([\\d.]+) µs") / 1e6;
  private static final double EVENT = number("a live event \\| ([\\d.]+) µs") / 1e6;
  private static final double BYTES =
      (number("\\| (\\d+) kB of heap;") + number("(\\d+) kB more with an HTTP upstream")) * 1e3;

  private static final double CORES = number("Pods have (\\d+) cores");
  private static final double OLD_BYTES =
      number("cores and (\\d+) GiB") * (1 << 30) * OLD_SHARE * HEAP_TARGET;

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException missing) {
      throw new IllegalStateException(missing);
    }
  }

  private static double number(String pattern) {
    Matcher found = Pattern.compile(pattern).matcher(PAGE);
    assertThat(found.find()).as(pattern).isTrue();
    return Double.parseDouble(found.group(1).replace(",", ""));
  }

  /** All whole numbers of a row, from left to right. */
  private static List<Long> row(String name) {
    Matcher row = Pattern.compile("(?m)^\\| " + Pattern.quote(name) + " \\|(.*)$").matcher(PAGE);
    assertThat(row.find()).as(name).isTrue();
    return Pattern.compile("\\d+(,\\d{3})*")
        .matcher(row.group(1))
        .results()
        .map(each -> Long.parseLong(each.group().replace(",", "")))
        .toList();
  }

  private static long podsByCpu(long clients) {
    double calls = clients / MINUTE;
    double events = calls * number("which sends (\\d+) events");
    double cores = clients * WAITING + calls * CALL + events * EVENT;
    return (long) Math.ceil(cores / (CORES * CPU_TARGET));
  }

  private static long podsByMemory(long clients) {
    return (long) Math.ceil(clients * BYTES / OLD_BYTES);
  }

  private static long pods(long clients) {
    return Stream.of(SCALING.get("minReplicas").asLong(), podsByCpu(clients), podsByMemory(clients))
        .max(Long::compare)
        .orElseThrow();
  }

  @Test
  void shouldGiveThePodsOfThePage() {
    List<Long> byResource = new ArrayList<>();
    for (long clients : CLIENTS) {
      byResource.add(podsByCpu(clients));
      byResource.add(podsByMemory(clients));
    }

    assertThat(CLIENTS).hasSize(3);
    assertThat(row("pods by CPU, by memory")).isEqualTo(byResource);
    assertThat(row("**pods**, at least the `minReplicas`"))
        .isEqualTo(CLIENTS.stream().map(AutoscalingTargetsTest::pods).toList());
    assertThat(row("sockets of a pod"))
        .isEqualTo(
            CLIENTS.stream().map(clients -> Math.round(2.0 * clients / pods(clients))).toList());
    assertThat(PAGE)
        .contains(
            "%.0f %% of the processor, and %.0f %% of the old generation"
                .formatted(CPU_TARGET * 100, HEAP_TARGET * 100));
  }

  @Test
  void shouldGiveThePodsOfThePageByConnections() {
    double target = number("room for ([\\d,]+) clients");

    assertThat(target).isEqualTo(Math.floor(OLD_BYTES / BYTES / 1000) * 1000);
  }

  /** The default pod is smaller than that of the page. */
  @Test
  void shouldFitTheDefaultPod() {
    long target = SCALING.at("/connections/target").asLong();
    String limits = read(Path.of("docs", "configuration.md"));
    Matcher most = Pattern.compile("\\| `LIMITS_CONNECTIONS` \\| `(\\d+)`").matcher(limits);
    String memory =
        Yaml.read(Chart.RELEASED.directory().resolve("values.yaml"))
            .at("/resources/limits/memory")
            .asText();

    assertThat(most.find()).isTrue();
    assertThat(target).isEqualTo(Long.parseLong(most.group(1)) * 70 / 100);
    assertThat(memory).isEqualTo("512Mi");
    assertThat(target * BYTES).isLessThan((512 << 20) * OLD_SHARE * HEAP_TARGET);
  }
}
