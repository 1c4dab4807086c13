package dev.holdfast.deploy;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import com.marcnuri.helm.LintResult;
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

  private static RenderedChart rendered(String valuesFile) {
    return RENDERED.computeIfAbsent(valuesFile, name -> chart.render(chart.valuesFile(name)));
  }

  private static String checksum(String valuesFile) {
    var annotations =
        rendered(valuesFile).deployment().getSpec().getTemplate().getMetadata().getAnnotations();
    return requireNonNull(annotations.get("checksum/config"));
  }
}
