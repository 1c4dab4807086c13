package dev.holdfast.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ForwardingUpstreamTest {

  /** A method with a default would be answered here, and not by the upstream behind. */
  @Test
  void shouldPassOnEveryMethod() {
    assertThat(Stream.of(Upstream.class.getMethods()).map(Method::getName))
        .isSubsetOf(
            Stream.of(ForwardingUpstream.class.getDeclaredMethods()).map(Method::getName).toList());
  }
}
