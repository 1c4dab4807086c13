package dev.holdfast.deploy;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.marcnuri.helm.LintResult;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceSpec;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.openshift.api.model.monitoring.v1.Endpoint;
import io.fabric8.openshift.api.model.monitoring.v1.ServiceMonitor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Renders the chart with every example of values, and checks the result. */
class HelmChartIT {

  private static final Map<String, RenderedChart> RENDERED = new HashMap<>();

  @TempDir private static Path scratch;

  private static Chart chart;

  @BeforeAll
  static void copyChart() {
    chart = Chart.RELEASED.copyTo(scratch);
  }

  static List<Path> valuesFiles() {
    return Chart.RELEASED.valuesFiles();
  }

  static Stream<Arguments> checks() {
    return valuesFiles().stream()
        .flatMap(file -> Stream.of(ChartCheck.values()).map(check -> Arguments.of(file, check)));
  }

  @ParameterizedTest
  @MethodSource("checks")
  void shouldHold(Path valuesFile, ChartCheck check) {
    assertThat(check.problems(rendered(valuesFile.getFileName().toString()))).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("valuesFiles")
  void shouldPassLint(Path valuesFile, @TempDir Path copy) {
    LintResult result = Chart.RELEASED.lint(valuesFile, copy);

    assertThat(result.isFailed()).as(result.getMessages().toString()).isFalse();
  }

  @ParameterizedTest
  @MethodSource("valuesFiles")
  void shouldTellHowToTryIt(Path valuesFile) {
    assertThat(Chart.RELEASED.notes(valuesFile)).contains("helm test " + Chart.RELEASE);
  }

  @Test
  void shouldReplacePodsWhenTheConfigurationChanges() {
    String one = checksum("minimal.yaml");

    assertThat(checksum("minimal.yaml")).isEqualTo(one);
    assertThat(checksum("cluster.yaml")).isNotEqualTo(one);
  }

  /** The older keys of Redis' certificates have no renewal. */
  @Test
  void shouldReadRenewedCertificatesOfRedis() {
    assertThat(rendered("sentinel.yaml").settings())
        .containsEntry("quarkus.redis.tls-configuration-name", "redis")
        .containsEntry("quarkus.tls.redis.trust-store.pem.certs", "/etc/holdfast/redis-ca/ca.crt")
        .containsEntry(
            "quarkus.tls.redis.key-store.pem.0.cert", "/etc/holdfast/redis-client/tls.crt")
        .containsEntry(
            "quarkus.tls.redis.key-store.pem.0.key", "/etc/holdfast/redis-client/tls.key")
        .containsKey("quarkus.tls.redis.reload-period");
    assertThat(rendered("minimal.yaml").settings().keySet()).noneMatch(key -> key.contains("tls"));
  }

  /** Before, every pod of the cluster could read metrics and use the console. */
  @Test
  void shouldOpenTheManagementPortToNobodyByDefault() {
    assertThat(rendered("minimal.yaml").all(NetworkPolicy.class).getFirst().getSpec().getIngress())
        .singleElement()
        .extracting(rule -> rule.getPorts().getFirst().getPort().getStrVal())
        .isEqualTo("http");
  }

  /** Before, the notes said so even with keys, and nothing of an Ingress to an open gateway. */
  @Test
  void shouldWarnOfAnOpenGateway(@TempDir Path directory) throws IOException {
    String open = notes(directory, "{}");
    String published = notes(directory, "ingress: {enabled: true, hosts: [mcp.example.com]}");
    String balanced = notes(directory, "service: {type: LoadBalancer}");
    String guarded =
        notes(
            directory,
            "{ingress: {enabled: true, hosts: [mcp.example.com]},"
                + " config: {auth.keys.alice.hash: 'sha256:0'}}");

    assertThat(open).contains("Every pod that reaches the Service").doesNotContain("WARNING");
    assertThat(published).contains("WARNING: everybody who reaches");
    assertThat(balanced).contains("WARNING: everybody who reaches");
    assertThat(guarded).doesNotContain("WARNING", "may use the gateway");
  }

  private static String notes(Path directory, String more) throws IOException {
    ObjectNode values = (ObjectNode) Yaml.MAPPER.readTree(more);
    values.withObject("/redis").put("url", "redis://redis");
    Path file = directory.resolve("values.yaml");
    Yaml.write(file, values);
    return Chart.RELEASED.notes(file);
  }

  @Test
  void shouldTakeImagesFromOneRegistry(@TempDir Path directory) throws IOException {
    Path file =
        Files.writeString(
            directory.resolve("values.yaml"),
            "{global: {imageRegistry: registry.example.com, other: 1},"
                + " redis: {bundled: {enabled: true, image: {registry: other.example.com}}}}");

    RenderedChart rendered = Chart.RELEASED.render(file);

    assertThat(image(rendered.deployment().getSpec().getTemplate()))
        .startsWith("registry.example.com/holdfast/");
    assertThat(image(rendered.all(StatefulSet.class).getFirst().getSpec().getTemplate()))
        .startsWith("other.example.com/valkey/");
  }

  private static String image(PodTemplateSpec pods) {
    return pods.getSpec().getContainers().getFirst().getImage();
  }

  @Test
  void shouldPassOnWhatOperatorsSet() {
    RenderedChart rendered = rendered("production.yaml");

    assertThat(rendered.deployment().getMetadata().getAnnotations())
        .containsEntry("example.com/ticket", "42");
    assertThat(rendered.all(Service.class))
        .filteredOn(service -> "LoadBalancer".equals(service.getSpec().getType()))
        .singleElement()
        .extracting(Service::getSpec)
        .returns("Local", ServiceSpec::getExternalTrafficPolicy)
        .returns("PreferDualStack", ServiceSpec::getIpFamilyPolicy)
        .returns(List.of("IPv4", "IPv6"), ServiceSpec::getIpFamilies);
    assertThat(rendered.all(ServiceMonitor.class).getFirst().getSpec().getEndpoints().getFirst())
        .returns("10s", Endpoint::getScrapeTimeout)
        .satisfies(endpoint -> {
          assertThat(endpoint.getRelabelings()).hasSize(1);
          assertThat(endpoint.getMetricRelabelings()).hasSize(1);
        });
  }

  private static RenderedChart rendered(String valuesFile) {
    return RENDERED.computeIfAbsent(valuesFile, name -> chart.render(chart.valuesFile(name)));
  }

  private static String checksum(String valuesFile) {
    var annotations =
        rendered(valuesFile).deployment().getSpec().getTemplate().getMetadata().getAnnotations();
    return requireNonNull(annotations.get("checksum/config"));
  }
}
