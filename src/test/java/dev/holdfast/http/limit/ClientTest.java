package dev.holdfast.http.limit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.call.Caller;
import dev.holdfast.call.Principal;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ClientTest {

  @ParameterizedTest
  @CsvSource({
    "2001:db8:1:2::1, 2001:db8:1:2:ffff:ffff:ffff:ffff",
    "2001:db8::1, 2001:0db8:0000:0000:0000:0000:0000:0002",
    "::ffff:192.0.2.1, 192.0.2.1",
    "64:ff9b::192.0.2.1, 192.0.2.1",
    "fe80::1%eth0, fe80::2%nosuchinterface",
    "fe80::1%1, fe80::1",
    "unknown, unknown",
  })
  void shouldTreatAddressesAsOneClient(String one, String other) {
    assertThat(Client.at(one)).isEqualTo(Client.at(other));
  }

  @ParameterizedTest
  @CsvSource({
    "192.0.2.1, 192.0.2.2",
    "2001:db8:1:2::1, 2001:db8:1:3::1",
    "64:ff9b::192.0.2.1, 64:ff9b::192.0.2.2",
    "_hidden, unknown",
  })
  void shouldDistinguishClients(String one, String other) {
    assertThat(Client.at(one)).isNotEqualTo(Client.at(other));
  }

  /** A proxy may forward any text, and the gateway resolves no names. */
  @ParameterizedTest
  @ValueSource(strings = {"", "example.invalid", "a:b", "[::1", "a:b%c", "1:2:3"})
  void shouldAcceptAnyText(String text) {
    assertThat(Client.at(text).name()).isEqualTo(text);
  }

  @Test
  void shouldTellPrincipalsApartAtOneAddress() {
    Client alice = caller("alice", "192.0.2.1");

    assertThat(alice).isEqualTo(caller("alice", "192.0.2.2"));
    assertThat(alice).isNotEqualTo(caller("bob", "192.0.2.1"));
    assertThat(alice).isNotEqualTo(Client.at("key alice"));
    assertThat(alice).hasToString("a principal");
  }

  @Test
  void shouldBeTheAddressWithoutPrincipal() {
    assertThat(Client.of(Caller.UNKNOWN.at("192.0.2.1", "192.0.2.1", "")))
        .isEqualTo(Client.at("192.0.2.1"));
    assertThat(Client.at("192.0.2.1")).hasToString("192.0.2.1");
  }

  @Test
  void shouldNameTheNetwork() {
    assertThat(Client.at("2001:db8:1:2::1").name()).isEqualTo("20010db800010002/64");
  }

  private static Client caller(String name, String address) {
    Caller caller = Caller.of(new Principal("key", name), Set.of(), null);
    return Client.of(caller.at(address, address, ""));
  }
}
