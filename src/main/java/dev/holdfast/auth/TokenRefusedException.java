package dev.holdfast.auth;

/** An access token that does not tell who sends it. */
public abstract sealed class TokenRefusedException extends RuntimeException {

  private TokenRefusedException(String message) {
    super(message);
  }

  /** The token is not valid here. The message says why, and quotes nothing of the token. */
  public static final class Invalid extends TokenRefusedException {

    Invalid(String message) {
      super(message);
    }
  }

  /** The token cannot be checked, because its issuer is away. */
  public static final class IssuerAway extends TokenRefusedException {

    IssuerAway(String message) {
      super(message);
    }
  }
}
