package dev.holdfast.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Base64;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SessionIdTest {

  @Test
  void shouldHave256Bits() {
    SessionId id = SessionId.random();

    assertThat(Base64.getUrlDecoder().decode(id.value())).hasSize(32);
  }

  @Test
  void shouldNotRepeat() {
    assertThat(Stream.generate(SessionId::random).limit(10_000).collect(Collectors.toSet()))
        .hasSize(10_000);
  }

  @Test
  void shouldNotBeginLikeAnOption() {
    assertThat(Stream.generate(SessionId::random).limit(10_000))
        .noneMatch(id -> id.value().startsWith("-"));
  }

  @Test
  void shouldReadWhatItWrites() {
    SessionId id = SessionId.random();

    assertThat(SessionId.parse(id.value())).contains(id);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "x",
        "0123456789012345678901234567890123456789012",
        "012345678901234567890123456789012345678901}",
        "012345678901234567890123456789012345678901\n",
        "01234567890123456789012345678901234567890123",
      })
  void shouldReadOnlyItsOwnForm(String text) {
    boolean own = text.length() == 43 && text.matches("[0-9]+");

    assertThat(SessionId.parse(text).isPresent()).isEqualTo(own);
    if (!own) {
      assertThatIllegalArgumentException().isThrownBy(() -> new SessionId(text));
    }
  }

  @Test
  void shouldNotShowItself() {
    SessionId id = SessionId.random();

    assertThat(id.toString()).hasSize(7).doesNotContain(id.value());
  }
}
