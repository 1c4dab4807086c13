package dev.holdfast.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import org.jose4j.jwt.JwtClaims;
import org.jose4j.jwt.NumericDate;
import org.junit.jupiter.api.Test;

/** The times of tokens, to the second. */
class CheckedTokenTest {

  private static final Instant NOW = Instant.parse("2026-11-23T10:15:30Z");
  private static final String ISSUER = "https://login.example.com";

  private static JwtClaims claims(long expiresIn) {
    JwtClaims claims = new JwtClaims();
    claims.setSubject("alice");
    claims.setAudience("https://mcp.example.com/mcp");
    claims.setExpirationTime(NumericDate.fromSeconds(NOW.getEpochSecond() + expiresIn));
    return claims;
  }

  @Test
  void shouldCheckAJsonWebTokenAgainAfterAMinute() {
    assertThat(CheckedToken.of(ISSUER, claims(600), NOW))
        .returns(NOW.plusSeconds(60), CheckedToken::until)
        .returns(NOW.plusSeconds(630), CheckedToken::expires);
  }

  /** The clock of the issuer may be half a minute ahead. */
  @Test
  void shouldCheckAJsonWebTokenAgainWhenItHasExpired() {
    assertThat(CheckedToken.of(ISSUER, claims(29), NOW).until()).isEqualTo(NOW.plusSeconds(59));
    assertThat(CheckedToken.of(ISSUER, claims(31), NOW).until()).isEqualTo(NOW.plusSeconds(60));
  }

  @Test
  void shouldRefuseATimeThatIsNoDate() {
    JwtClaims claims = claims(600);
    claims.setClaim("exp", 1e300);

    assertThatThrownBy(() -> CheckedToken.of(ISSUER, claims, NOW))
        .isInstanceOf(TokenRefusedException.Invalid.class);
    assertThatThrownBy(() -> CheckedToken.ofAnswer(ISSUER, claims, NOW))
        .isInstanceOf(TokenRefusedException.Invalid.class);
  }

  @Test
  void shouldAskAgainAfterHalfAMinute() {
    assertThat(CheckedToken.ofAnswer(ISSUER, claims(600), NOW).until())
        .isEqualTo(NOW.plusSeconds(30));
  }

  @Test
  void shouldAskAgainWhenTheTokenHasExpired() {
    assertThat(CheckedToken.ofAnswer(ISSUER, claims(29), NOW).until())
        .isEqualTo(NOW.plusSeconds(29));
  }

  @Test
  void shouldAllowForTheClockOfTheIssuer() {
    assertThat(CheckedToken.ofAnswer(ISSUER, claims(-29), NOW).principal().subject())
        .isEqualTo("alice");
    assertThatThrownBy(() -> CheckedToken.ofAnswer(ISSUER, claims(-30), NOW))
        .hasMessage("The token has expired");

    JwtClaims early = claims(600);
    early.setNotBefore(NumericDate.fromSeconds(NOW.getEpochSecond() + 30));
    assertThat(CheckedToken.ofAnswer(ISSUER, early, NOW).principal().subject()).isEqualTo("alice");
    early.setNotBefore(NumericDate.fromSeconds(NOW.getEpochSecond() + 31));
    assertThatThrownBy(() -> CheckedToken.ofAnswer(ISSUER, early, NOW))
        .hasMessage("The token is not valid yet");
  }
}
