package dev.holdfast.http.error;

/** Observes HTTP responses. Called on request threads, so it must not block. */
@FunctionalInterface
public interface HttpListener {

  /**
   * Called when a request was answered with an error.
   *
   * @param status 400 or more
   */
  void answeredWithError(int status);
}
