package dev.holdfast.http.socket;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.VertxOptions;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class EventLoopsTest {

  private final VertxOptions options = new VertxOptions().setEventLoopPoolSize(7);

  @Test
  void shouldTakeOneEventLoopPerTwoProcessors() {
    new EventLoops(OptionalInt.empty()).accept(options);

    assertThat(options.getEventLoopPoolSize())
        .isEqualTo(Math.max(1, Runtime.getRuntime().availableProcessors() / 2));
  }

  @Test
  void shouldKeepTheConfiguredNumber() {
    new EventLoops(OptionalInt.of(7)).accept(options);

    assertThat(options.getEventLoopPoolSize()).isEqualTo(7);
  }
}
