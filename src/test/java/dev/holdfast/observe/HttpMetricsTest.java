package dev.holdfast.observe;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.relay.stream.CallListener;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HttpMetricsTest {

  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final Metrics metrics = new Metrics(registry, CallListener.NONE);

  @ParameterizedTest
  @CsvSource({
    "400, bad_request",
    "401, unauthorized",
    "403, forbidden",
    "404, not_found",
    "405, bad_request",
    "406, bad_request",
    "410, purged",
    "413, bad_request",
    "415, bad_request",
    "418, bad_request",
    "429, limit",
    "500, internal",
    "502, upstream",
    "503, unavailable",
    "504, upstream",
    "599, internal",
  })
  void shouldCountErrorsByKind(int status, String kind) {
    metrics.answeredWithError(status);

    assertThat(registry.counter("holdfast.errors", "kind", kind).count()).isOne();
    assertThat(registry.get("holdfast.errors").counters()).hasSize(9);
  }
}
