package dev.holdfast.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Instant;
import org.junit.jupiter.api.Test;

class SessionActivityTest {

  private static final Instant EARLY = Instant.ofEpochSecond(1);
  private static final Instant LATE = Instant.ofEpochSecond(2);

  @Test
  void shouldAddUp() {
    SessionActivity one = SessionActivity.request(LATE, "a", true);
    SessionActivity other = SessionActivity.request(EARLY, "b", false);

    assertThat(one.plus(other)).isEqualTo(new SessionActivity(LATE, "b", 2, 1));
  }

  @Test
  void shouldKeepTheAddressOfWhomOnlyListens() {
    SessionActivity both =
        SessionActivity.request(EARLY, "a", false).plus(SessionActivity.none(LATE));

    assertThat(both).isEqualTo(new SessionActivity(LATE, "a", 1, 0));
    assertThat(both.isEmpty()).isFalse();
    assertThat(SessionActivity.none(LATE).isEmpty()).isTrue();
  }

  @Test
  void shouldNotCountBackwards() {
    assertThatIllegalArgumentException().isThrownBy(() -> new SessionActivity(EARLY, null, -1, 0));
    assertThatIllegalArgumentException().isThrownBy(() -> new SessionActivity(EARLY, null, 0, -1));
  }
}
