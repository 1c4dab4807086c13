package dev.holdfast.wiring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.PackagedProgram;
import dev.holdfast.testing.ProcessResult;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Checks what the packaged program prints when it does not start: one line for each problem, and
 * nothing else. {@link StartFailureTest} has the lines of all problems.
 */
class RefusedConfigIT {

  @TempDir Path directory;

  private ProcessResult run(Map<String, String> environment, String... properties) {
    List<String> command = new ArrayList<>(PackagedProgram.command("serve"));
    command.addAll(1, List.of(properties));
    return PackagedProgram.run(directory, environment, command);
  }

  private static void assertRefused(ProcessResult result, String... lines) {
    assertThat(result.stderr().lines()).as(result.toString()).containsExactlyInAnyOrder(lines);
    assertThat(result.stdout()).doesNotContain("ERROR", "\tat ", "Exception");
    assertThat(result.exitCode()).isEqualTo(1);
  }

  @Test
  void shouldReportInvalidValuesOfAllSources() throws IOException {
    Files.writeString(directory.resolve(".env"), "HOLDFAST_STREAM_KEEP_ALIVE=1ms\n");
    Files.writeString(
        Files.createDirectory(directory.resolve("config")).resolve("application.properties"),
        "holdfast.strem.retry=1s\n");

    assertRefused(
        run(
            Map.of("HOLDFAST_UPSTREAM_RESPAWN", "maybe"),
            "-Dholdfast.store=reddis",
            "-Dquarkus.http.port=many"),
        "holdfast.store (command line) must be memory or redis, not reddis",
        "quarkus.http.port (command line) must be a whole number, such as 8080, not many",
        "holdfast.upstream.respawn (HOLDFAST_UPSTREAM_RESPAWN) must be true or false, not maybe",
        "holdfast.stream.keep-alive (HOLDFAST_STREAM_KEEP_ALIVE in .env) must be a duration of"
            + " 100ms to 10m, such as 30s, not 1ms",
        "holdfast.strem.retry (config/application.properties) is not a configuration key: is it"
            + " holdfast.stream.retry?");
  }

  @Test
  void shouldReportBrokenRules() {
    assertRefused(
        run(
            Map.of("HOLDFAST_STORE", "redis", "QUARKUS_REDIS_HOSTS", "foo"),
            "-Dholdfast.upstreams.files.redact=text",
            "-Dholdfast.upstreams.files.url=ftp://me:secret@a/b"),
        "quarkus.redis.hosts (QUARKUS_REDIS_HOSTS) must be URLs that begin with redis:// or"
            + " rediss://, such as redis://127.0.0.1:6379",
        "holdfast.upstreams.files.url (command line) must begin with http:// or https://, such as"
            + " http://localhost:3000/mcp",
        "holdfast.upstreams.files.redact (command line) must be JSON pointers, such as"
            + " /content/*/text, not text");
  }

  @Test
  void shouldReportAPortInUse() throws IOException {
    try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      int port = other.getLocalPort();

      assertRefused(
          run(Map.of("QUARKUS_HTTP_PORT", Integer.toString(port))),
          "quarkus.http.port (QUARKUS_HTTP_PORT): port %d of 127.0.0.1 is in use: stop the other"
                  .formatted(port)
              + " program, or set another port, such as QUARKUS_HTTP_PORT=%d".formatted(port + 1));
    }
  }

  @Test
  void shouldReportAnAddressOfAnotherMachine() {
    assertRefused(
        run(Map.of(), "-Dquarkus.http.host=192.0.2.1", "-Dholdfast.demo-tools=always"),
        "quarkus.http.host (command line) must be an address of this machine, such as 127.0.0.1,"
            + " or 0.0.0.0 for all, not 192.0.2.1");
  }
}
