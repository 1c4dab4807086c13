package dev.holdfast.deploy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks that images, Compose files and workflows name only what exists, and agree on ports. */
class ShippedFilesTest {

  private static final Path COMPOSE = Path.of("deploy/compose.yaml");
  private static final Set<String> REPLICAS = Set.of("holdfast-1", "holdfast-2", "holdfast-3");

  /** A process ends so many seconds after its drain at the latest (docs/operations.md). */
  private static final int AFTER_DRAIN = 5;

  private static String text(String file) throws IOException {
    return Files.readString(Path.of(file));
  }

  private static Set<String> found(String regex, String text) {
    Matcher matcher = Pattern.compile(regex).matcher(text);
    Set<String> found = new TreeSet<>();
    while (matcher.find()) {
      found.add(matcher.group(1));
    }
    return found;
  }

  private static Stream<JsonNode> items(JsonNode list) {
    return StreamSupport.stream(list.spliterator(), false);
  }

  static List<Path> yamlFiles() throws IOException {
    try (Stream<Path> github = Files.walk(Path.of(".github"));
        Stream<Path> deploy = Files.walk(Path.of("deploy"))) {
      // Templates become YAML when Helm renders them.
      return Stream.concat(github, deploy)
          .filter(file -> file.toString().matches(".*\\.ya?ml"))
          .filter(file -> !file.toString().contains("templates"))
          .toList();
    }
  }

  @ParameterizedTest
  @MethodSource("yamlFiles")
  void shouldBeValidYaml(Path file) {
    assertThat(Yaml.read(file).isMissingNode()).isFalse();
  }

  @Test
  void shouldPinTheVersionsOfActions() throws IOException {
    for (Path file : yamlFiles()) {
      if (file.startsWith(".github/workflows")) {
        assertThat(found("uses: +(\\S+)", Files.readString(file)))
            .as(file.toString())
            .allMatch(action ->
                action.startsWith("./") || action.matches(".+@(v\\d+\\.\\d+\\.\\d+|\\w{40})"));
      }
    }
  }

  @Test
  void shouldCallOnlyWorkflowsAndScriptsThatExist() throws IOException {
    for (Path file : yamlFiles()) {
      if (file.startsWith(".github/workflows")) {
        String workflow = Files.readString(file);
        Stream.concat(
                found("uses: +\\./(\\S+)", workflow).stream(),
                found("run: +(?:\\./)?((?:deploy|\\.github)/\\S+|mvnw)", workflow).stream())
            .forEach(named -> assertThat(Path.of(named)).as(file.toString()).exists());
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"Dockerfile.native", "src/main/docker/Dockerfile.jvm"})
  void shouldDescribeTheImage(String file) throws IOException {
    String image = text(file);
    String last = image.substring(image.lastIndexOf("\nFROM "));

    assertThat(last)
        .contains(
            "\nUSER 65532:65532\n",
            "\nEXPOSE 8080 9000\n",
            "QUARKUS_HTTP_HOST=0.0.0.0",
            "QUARKUS_MANAGEMENT_HOST=0.0.0.0",
            "\nHEALTHCHECK ",
            "\"doctor\", \"--live\"]",
            "\nENTRYPOINT [");
    // No shell: commands are lists, and nothing runs while the last stage is built.
    assertThat(last).doesNotContain("\nRUN ", "CMD /", "ENTRYPOINT /");
    assertThat(found("FROM (\\S+)", image)).allMatch(name -> name.startsWith("${"));
    // With the host that serves it: not every builder takes Docker's for one that is not named.
    assertThat(found("(?m)^ARG \\w+_IMAGE=(\\S+)$", image))
        .hasSize(2)
        .allMatch(name -> name.matches("(quay|docker)\\.io/.+:.+"));
    for (String copied : found("(?m)^COPY (?!--from)(?:--\\S+ )?(.+) \\S+$", image)) {
      assertThat(copied.split(" ")).allMatch(source -> Files.exists(Path.of(source)));
    }
    Set<String> sent = found("(?m)^!(\\S+)$", text(".dockerignore"));
    assertThat(
            found("(?m)^COPY (?!--from)(?:--\\S+ )?(.+) \\S+$", image).stream()
                .flatMap(sources -> Stream.of(sources.split(" "))))
        .allMatch(source -> sent.stream().anyMatch(Path.of(source)::startsWith));
  }

  /** The class cache is used only with the options that it was written with. */
  @Test
  void shouldUseTheClassCacheWithTheOptionsOfItsTraining() throws IOException {
    String image = text("src/main/docker/Dockerfile.jvm");
    String training = image.substring(image.indexOf("RUN java"), image.indexOf("& \\"));

    assertThat(image.substring(image.indexOf("\nENTRYPOINT")))
        .contains("-XX:AOTCache=/opt/holdfast/startup.aot");
    assertThat(training)
        .contains("-XX:AOTCacheOutput=startup.aot", "-XX:+UseSerialGC", "-jar /opt/holdfast/");
    assertThat(image.substring(image.indexOf("\nENTRYPOINT"))).contains("\"-XX:+UseSerialGC\"");
  }

  @Test
  void shouldHaveThreeReplicasBehindTheBalancer() throws IOException {
    JsonNode services = Yaml.read(COMPOSE).path("services");
    String balancer = text("deploy/nginx.conf");

    assertThat(found("server (\\S+):8080 ", balancer)).isEqualTo(REPLICAS);
    assertThat(services.propertyStream().map(service -> service.getKey())).containsAll(REPLICAS);
    assertThat(balancer)
        .contains("proxy_buffering off;", "proxy_http_version 1.1;")
        .doesNotContain("ip_hash", "sticky", "hash ");
    for (String replica : REPLICAS) {
      String port = "127.0.0.1:900" + replica.charAt(replica.length() - 1) + ":9000";
      assertThat(services.path(replica).path("ports").path(0).asText()).isEqualTo(port);
    }
  }

  @Test
  void shouldMountOnlyFilesThatExist() {
    for (JsonNode service : Yaml.read(COMPOSE).path("services")) {
      items(service.path("volumes"))
          .map(JsonNode::asText)
          .filter(volume -> volume.startsWith("./"))
          .map(volume -> volume.substring(0, volume.indexOf(':')))
          .forEach(file -> assertThat(Path.of("deploy").resolve(file)).exists());
      JsonNode build = service.path("build");
      if (!build.isMissingNode()) {
        assertThat(Path.of(build.path("dockerfile").asText())).exists();
      }
    }
  }

  @Test
  void shouldSetOnlyKeysThatExist() throws IOException {
    String documented = text("docs/configuration.md");

    assertThat(found("HOLDFAST_(\\w+):", text(COMPOSE.toString())))
        .isNotEmpty()
        .allMatch(key -> documented.contains("`" + key + "`"));
  }

  /** Prometheus finds all replicas, on the port of health and metrics. */
  @Test
  void shouldScrapeTheReplicas() throws IOException {
    JsonNode target =
        Yaml.read(Path.of("deploy/prometheus/prometheus.yml"))
            .path("scrape_configs")
            .path(0)
            .path("dns_sd_configs")
            .path(0);

    assertThat(target.path("port").asInt()).isEqualTo(9000);
    assertThat(items(target.path("names")).map(JsonNode::asText)).hasSameElementsAs(REPLICAS);
    assertThat(text("src/main/resources/application.properties"))
        .contains("quarkus.management.port=9000\n");
  }

  /** Who stops a replica waits for its drain, and for the seconds that a process needs after it. */
  @Test
  void shouldWaitForTheDrainBeforeItKills() throws IOException {
    String image = text("src/main/docker/container.properties");
    JsonNode replica = Yaml.read(COMPOSE).path("x-replica");
    JsonNode chart = Yaml.read(Path.of("deploy/helm/holdfast/values.yaml"));

    // By default, docker stop waits for ten seconds.
    assertThat(seconds(found("drain-timeout=(\\S+)", image).iterator().next()) + AFTER_DRAIN)
        .isLessThanOrEqualTo(10);
    assertThat(
            seconds(replica.path("environment").path("HOLDFAST_STREAM_DRAIN_TIMEOUT").asText())
                + AFTER_DRAIN)
        .isLessThan(seconds(replica.path("stop_grace_period").asText()));
    assertThat(chart.path("config").path("stream.drain-timeout").asText()).isEqualTo("20s");
    assertThat(chart.path("shutdownSeconds").asInt()).isGreaterThan(AFTER_DRAIN);
    for (String file : List.of("Dockerfile.native", "src/main/docker/Dockerfile.jvm")) {
      assertThat(text(file))
          .contains("QUARKUS_CONFIG_LOCATIONS=/etc/holdfast/container.properties");
    }
  }

  private static int seconds(String duration) {
    assertThat(duration).endsWith("s");
    return Integer.parseInt(duration.substring(0, duration.length() - 1));
  }

  /** Without it, the executable cannot be linked: the schema validator refers to it. */
  @Test
  void shouldShipTheYamlLibraryOfTheSchemaValidator() throws IOException {
    String dependency = "<artifactId>jackson-dataformat-yaml</artifactId>";
    String pom = text("pom.xml");

    assertThat(pom).containsOnlyOnce(dependency);
    assertThat(pom.substring(pom.indexOf(dependency) + dependency.length()).strip())
        .startsWith("</dependency>");
  }

  @Test
  void shouldTakeReleaseNotesFromTheChangelog() throws Exception {
    Process script =
        new ProcessBuilder(".github/release-notes.sh", "0.1.0")
            .redirectInput(Path.of("CHANGELOG.md").toFile())
            .start();
    String notes = new String(script.getInputStream().readAllBytes(), UTF_8);

    assertThat(script.waitFor()).isZero();
    assertThat(notes).contains("### Added").doesNotContain("## [");
  }
}
