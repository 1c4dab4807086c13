package dev.holdfast.console.calls;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.log.SharedLog;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class RecordedSharedLogTest {

  /** A method that it does not pass on would do nothing at all. */
  @Test
  void shouldPassOnEveryMethod() {
    assertThat(RecordedSharedLog.class.getDeclaredMethods())
        .extracting(Method::getName)
        .containsAll(
            Stream.of(SharedLog.class.getDeclaredMethods())
                .filter(method -> !Modifier.isStatic(method.getModifiers()))
                .map(Method::getName)
                .toList());
  }
}
