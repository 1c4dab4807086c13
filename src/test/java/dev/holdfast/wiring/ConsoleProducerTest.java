package dev.holdfast.wiring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.wiring.config.GatewayConfig;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** When the console is served. */
class ConsoleProducerTest {

  @ParameterizedTest
  @CsvSource({
    "LOCAL, 127.0.0.1, false, true",
    "LOCAL, localhost, false, true",
    "LOCAL, 0.0.0.0, false, false",
    "LOCAL, 192.0.2.1, false, false",
    "LOCAL, 127.0.0.1, true, false",
    "OFF, 127.0.0.1, false, false",
  })
  void shouldServeOnlyThisMachineWithoutKeys(
      GatewayConfig.Console when, String host, boolean needsKey, boolean served) {
    assertThat(ConsoleProducer.isServed(when, host, needsKey)).isEqualTo(served);
  }
}
