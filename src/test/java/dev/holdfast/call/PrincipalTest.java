package dev.holdfast.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PrincipalTest {

  @ParameterizedTest
  @CsvSource({"key, alice", "https://issuer.example, 'a b'", "i, ''", "i, ' '", "'', ''", "'', a"})
  void shouldReadWhatItWrites(String issuer, String subject) {
    Principal id = new Principal(issuer, subject);

    assertThat(Principal.parse(id.recorded())).isEqualTo(id);
  }

  /** Sessions of earlier versions have no such field; the store writes a missing one as empty. */
  @Test
  void shouldReadAMissingOneAsAnonymous() {
    assertThat(Principal.parse("")).isEqualTo(Principal.ANONYMOUS);
  }

  /** Otherwise a subject could continue the name of its issuer. */
  @Test
  void shouldRefuseAnIssuerWithSpaces() {
    assertThatIllegalArgumentException().isThrownBy(() -> new Principal("a b", "c"));
  }
}
