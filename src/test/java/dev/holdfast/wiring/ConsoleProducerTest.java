package dev.holdfast.wiring;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** When the console is served. */
class ConsoleProducerTest {

  @ParameterizedTest
  @CsvSource({
    "127.0.0.1, false, true",
    "localhost, false, true",
    "0.0.0.0, false, false",
    "192.0.2.1, false, false",
    "127.0.0.1, true, false",
  })
  void shouldServeOnlyThisMachineWithoutSignIn(String host, boolean needsKey, boolean served) {
    assertThat(ConsoleProducer.isLocal(host, needsKey)).isEqualTo(served);
  }
}
