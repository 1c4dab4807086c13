package dev.holdfast.oauth;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class BearerChallengeTest {

  @Test
  void shouldReadTheMetadataAndTheScope() {
    assertThat(
            BearerChallenge.parse(
                List.of(
                    "Bearer resource_metadata=\"https://a/b\", error=invalid_token, scope=\"x y\"")))
        .isEqualTo(new BearerChallenge("https://a/b", "x y"));
  }

  @Test
  void shouldFindItAmongOthers() {
    assertThat(
            BearerChallenge.parse(
                List.of(
                    "Negotiate",
                    "Basic realm=\"Bearer scope=a, \\\" \", bearer Scope=b, Digest scope=c")))
        .isEqualTo(new BearerChallenge(null, "b"));
  }

  @Test
  void shouldIgnoreWhatIsNoChallenge() {
    for (String header : List.of("", "Bearer", "Bearer scope=\"a", "Basic scope=a", "=,;\"\\")) {
      assertThat(BearerChallenge.parse(List.of(header))).isEqualTo(BearerChallenge.NONE);
    }
    assertThat(BearerChallenge.parse(List.of("Bearer scope=\"a\nb\"")).scope()).isNull();
  }
}
