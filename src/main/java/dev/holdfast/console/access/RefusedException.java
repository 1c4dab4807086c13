package dev.holdfast.console.access;

/** A request that the console does not carry out. Its text is for the operator. */
public final class RefusedException extends RuntimeException {

  private final int status;

  /** Refuses a request with an HTTP status. */
  public RefusedException(int status, String text) {
    super(text);
    this.status = status;
  }

  int status() {
    return status;
  }
}
