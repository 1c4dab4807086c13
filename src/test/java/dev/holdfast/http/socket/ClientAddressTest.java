package dev.holdfast.http.socket;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.vertx.http.runtime.CurrentVertxRequest;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Before, the left-most address counted, which the client writes where the proxy appends. */
class ClientAddressTest {

  private static final ClientAddress BEHIND =
      new ClientAddress(
          new CurrentVertxRequest(),
          true,
          Optional.of(List.of("10.0.0.0/8", "192.0.2.7", "2001:db8::/32", "proxy.example")));

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "198.51.100.1                            | 198.51.100.1",
        "203.0.113.9, 198.51.100.1               | 198.51.100.1",
        "203.0.113.9, 198.51.100.1, 10.1.2.3     | 198.51.100.1",
        "203.0.113.9, 198.51.100.1,192.0.2.7     | 198.51.100.1",
        "10.1.2.3, 10.1.2.4                      | 10.1.2.3",
        "198.51.100.1:4711                       | 198.51.100.1",
        "2001:db9::1, 2001:db8::5                | 2001:db9::1",
        "[2001:db9::1]:443                       | 2001:db9::1",
        "10.1.2.3, not-an-address                | not-an-address",
        "for=203.0.113.9, for=198.51.100.1;proto=https, for=10.0.0.1 | 198.51.100.1",
        "For=\"[2001:db9::1]:4711\";by=10.0.0.1  | 2001:db9::1",
      })
  void shouldTakeTheLastAddressThatIsNoTrustedProxy(String header, String expected) {
    assertThat(BEHIND.lastUntrusted(List.of(header))).isEqualTo(expected);
  }

  /** Sessions and limits keep the address. */
  @Test
  void shouldNotKeepALongText() {
    assertThat(BEHIND.lastUntrusted(List.of("x".repeat(101)))).isEqualTo("unknown");
  }

  @Test
  void shouldReadRepeatedHeadersAsOne() {
    assertThat(BEHIND.lastUntrusted(List.of("203.0.113.9", "198.51.100.1, 10.1.2.3")))
        .isEqualTo("198.51.100.1");
  }

  @Test
  void shouldTrustOnlyThePeerWithoutAList() {
    ClientAddress any = new ClientAddress(new CurrentVertxRequest(), false, Optional.empty());

    assertThat(any.lastUntrusted(List.of("203.0.113.9, 10.1.2.3"))).isEqualTo("10.1.2.3");
  }
}
