package dev.holdfast.console.calls;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.log.Inbox;
import dev.holdfast.log.SharedLog;
import dev.holdfast.log.StreamWriter;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class DecoratorsTest {

  private static Arguments[] decorators() {
    return new Arguments[] {
      Arguments.of(SharedLog.class, RecordedSharedLog.class),
      Arguments.of(Inbox.class, RecordedInbox.class),
      Arguments.of(StreamWriter.class, RecordedWriter.class)
    };
  }

  /** A missing method would do what its interface does by default. */
  @ParameterizedTest
  @MethodSource("decorators")
  void shouldPassOnEveryMethod(Class<?> port, Class<?> decorator) {
    assertThat(decorator.getDeclaredMethods())
        .extracting(Method::getName)
        .containsAll(
            Arrays.stream(port.getDeclaredMethods())
                .filter(method -> !Modifier.isStatic(method.getModifiers()))
                .filter(method -> !method.isSynthetic())
                .map(Method::getName)
                .toList());
  }
}
