package dev.holdfast.deploy;

import io.quarkus.runtime.configuration.DurationConverter;
import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Properties;

/** The settings that the program has in a container: its own, and above them those of the chart. */
final class ProgramSettings {

  private static final Path OWN = Path.of("src/main/resources/application.properties");

  private final Properties own = new Properties();
  private final Map<String, String> chart;

  ProgramSettings(RenderedChart rendered) {
    try (Reader reader = Files.newBufferedReader(OWN)) {
      own.load(reader);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    chart = rendered.settings();
  }

  String get(String key, String defaultValue) {
    return chart.getOrDefault(key, own.getProperty(key, defaultValue));
  }

  Duration duration(String key, String defaultValue) {
    return DurationConverter.parseDuration(get(key, defaultValue));
  }

  /** The port at which the program answers probes. */
  String healthPort() {
    return managementEnabled()
        ? get("quarkus.management.port", "9000")
        : get("quarkus.http.port", "8080");
  }

  /** The path below which it does. */
  String healthRoot() {
    String root =
        managementEnabled()
            ? get("quarkus.management.root-path", "/q")
            : get("quarkus.http.non-application-root-path", "/q");
    return root + "/" + get("quarkus.smallrye-health.root-path", "health");
  }

  /** A property of the build, so the chart cannot set it. */
  private boolean managementEnabled() {
    return Boolean.parseBoolean(own.getProperty("quarkus.management.enabled", "false"));
  }
}
