package dev.holdfast.wiring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.PackagedProgram;
import dev.holdfast.testing.ProcessResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Checks the precedence of configuration sources. Each source has ports of its own, where no server
 * listens. The port in the error message tells which source the program used.
 */
class ConfigPriorityIT {

  private static final int COMMAND_LINE = 1;
  private static final int PROPERTY = 2;
  private static final int ENVIRONMENT = 3;
  private static final int DOT_ENV = 4;
  private static final int FILE = 5;

  @TempDir Path directory;

  private static String url(int port) {
    return "http://127.0.0.1:" + port + "/mcp";
  }

  private static String property(String name, int port) {
    return "-Dholdfast." + name + ".url=" + url(port);
  }

  private static Map<String, String> environment() {
    return Map.of(
        "HOLDFAST_UPSTREAM_URL", url(ENVIRONMENT),
        "HOLDFAST_UPSTREAMS_PROPERTY_URL", url(ENVIRONMENT),
        "HOLDFAST_UPSTREAMS_ENVIRONMENT_URL", url(ENVIRONMENT));
  }

  /** Runs the doctor. Each source has the keys of the sources before it, and one more server. */
  private ProcessResult runDoctor() throws IOException {
    Files.write(
        directory.resolve(".env"),
        List.of(
            "HOLDFAST_UPSTREAM_URL=" + url(DOT_ENV),
            "HOLDFAST_UPSTREAMS_PROPERTY_URL=" + url(DOT_ENV),
            "HOLDFAST_UPSTREAMS_ENVIRONMENT_URL=" + url(DOT_ENV),
            "HOLDFAST_UPSTREAMS_DOTENV_URL=" + url(DOT_ENV)));
    Path config = Files.createDirectory(directory.resolve("config"));
    Files.write(
        config.resolve("application.properties"),
        List.of(
            "holdfast.upstream.url=" + url(FILE),
            "holdfast.upstreams.property.url=" + url(FILE),
            "holdfast.upstreams.environment.url=" + url(FILE),
            "holdfast.upstreams.dotenv.url=" + url(FILE),
            "holdfast.upstreams.file.url=" + url(FILE),
            // The default is 10000.
            "holdfast.limits.connections=77"));
    List<String> command =
        new ArrayList<>(
            PackagedProgram.command("doctor", "--upstream", url(COMMAND_LINE), "--json"));
    command.addAll(
        1, List.of(property("upstream", PROPERTY), property("upstreams.property", PROPERTY)));
    return PackagedProgram.run(directory, environment(), command);
  }

  private static String resultFor(ProcessResult doctor, String name) {
    return doctor
        .stdout()
        .lines()
        .filter(line -> line.contains("\"check\":\"upstream " + name + "\""))
        .findFirst()
        .orElseThrow(() -> new AssertionError(doctor));
  }

  @Test
  void shouldUseTheFirstSourceWithTheKey() throws IOException {
    ProcessResult doctor = runDoctor();

    assertThat(resultFor(doctor, "default")).contains("127.0.0.1:" + COMMAND_LINE);
    assertThat(resultFor(doctor, "property")).contains("127.0.0.1:" + PROPERTY);
    assertThat(resultFor(doctor, "environment")).contains("127.0.0.1:" + ENVIRONMENT);
    assertThat(resultFor(doctor, "dotenv")).contains("127.0.0.1:" + DOT_ENV);
    assertThat(resultFor(doctor, "file")).contains("127.0.0.1:" + FILE);
    assertThat(doctor.stdout()).contains("154 may be needed");
    assertThat(doctor.exitCode()).as(doctor.toString()).isEqualTo(1);
  }
}
