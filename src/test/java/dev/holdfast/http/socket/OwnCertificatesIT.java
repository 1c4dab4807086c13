package dev.holdfast.http.socket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.Certificates;
import dev.holdfast.testing.Certificates.Identity;
import dev.holdfast.testing.DocumentedMetrics;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.PackagedProgram;
import dev.holdfast.testing.ProcessResult;
import dev.holdfast.testing.ScriptedServer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Checks what the packaged program says about its own certificates. */
@Timeout(120)
class OwnCertificatesIT {

  private static final String INITIALIZED =
      """
      {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},\
      "serverInfo":{"name":"s","version":"1"}}}\
      """;

  @TempDir Path directory;

  @SuppressWarnings("NullAway.Init")
  private Certificates authority;

  @BeforeEach
  void makeAuthority() {
    authority = new Certificates(directory, "ours");
  }

  private static Map<String, String> port(Path certificate, Path key) {
    return Map.of(
        "quarkus.tls.in.key-store.pem.0.cert", certificate.toString(),
        "quarkus.tls.in.key-store.pem.0.key", key.toString(),
        "quarkus.tls.in.reload-period", "1s",
        "quarkus.http.tls-configuration-name", "in",
        "quarkus.http.ssl-port", "0");
  }

  private static String scrape(Gateway gateway) throws Exception {
    URI url = gateway.url("/q/metrics");
    try (HttpClient http = HttpClient.newHttpClient()) {
      HttpResponse<String> answer =
          http.send(HttpRequest.newBuilder(url).build(), BodyHandlers.ofString());
      return answer.body();
    }
  }

  /** Before, the program said nothing, and later each handshake failed. */
  @Test
  void shouldTellOfTheEndAndOfBrokenFiles() throws Exception {
    Identity own = authority.issue("gateway");
    Identity other = authority.issue("other");
    try (Gateway gateway = Gateway.start(port(own.certificate(), own.key()))) {
      assertThat(gateway.output()).contains("certificate ends soon tls=in days-left=1");
      assertThat(DocumentedMetrics.scraped(scrape(gateway)))
          .containsAllEntriesOf(DocumentedMetrics.of(DocumentedMetrics.Part.TLS));
      assertThat(scrape(gateway))
          .containsPattern("holdfast_certificate_expiry_seconds\\{tls=\"in\"\\} 1[0-9]+");

      Files.copy(other.key(), directory.resolve("next"));
      Files.move(
          directory.resolve("next"),
          own.key(),
          StandardCopyOption.REPLACE_EXISTING,
          StandardCopyOption.ATOMIC_MOVE);
      await()
          .until(() ->
              gateway
                  .output()
                  .contains(
                      "certificate cannot be used tls=in reason=its key belongs to another certificate"));

      Files.delete(own.key());
      await()
          .until(() ->
              gateway.output().matches("(?s).*certificate cannot be used tls=in reason=[^i].*"));
    }
  }

  /** Before, such a server could be reached only without a TLS configuration. */
  @Test
  void shouldReachServersWithTls12() {
    Identity own = authority.issue("gateway");
    try (ScriptedServer server =
        ScriptedServer.withTls12(
            authority.context(authority.issue("server")),
            (_, wire) -> wire.answer(200, "application/json", INITIALIZED))) {
      Map<String, String> settings =
          Map.of(
              "quarkus.tls.out.key-store.pem.0.cert", own.certificate().toString(),
              "quarkus.tls.out.key-store.pem.0.key", own.key().toString(),
              "quarkus.tls.out.trust-store.pem.certs", authority.certificate().toString(),
              "holdfast.upstream.url", server.url().toString(),
              "holdfast.upstream.connect-timeout", "1m",
              "holdfast.upstream.tls", "out");
      try (Gateway gateway = Gateway.start(settings)) {
        assertThat(McpClient.at(gateway.url()).initialized().statusCode())
            .as(gateway.output())
            .isEqualTo(200);
      }
    }
  }

  @Test
  void shouldNotStartWithTheKeyOfAnotherCertificate() {
    Identity own = authority.issue("gateway");
    Identity other = authority.issue("other");
    List<String> options =
        new ArrayList<>(PackagedProgram.shortLived("-Xmx256m", "-Dquarkus.http.port=0"));
    port(own.certificate(), other.key())
        .forEach((key, value) -> options.add("-D" + key + "=" + value));

    ProcessResult result =
        PackagedProgram.run(directory, Map.of(), PackagedProgram.command(options, List.of()));

    assertThat(result.exitCode()).as(result.toString()).isEqualTo(1);
    assertThat(result.stdout() + result.stderr())
        .contains("quarkus.tls.in.key-store cannot be used: its key belongs to another certificate")
        .doesNotContain("\tat ");
  }
}
