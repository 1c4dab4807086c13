package dev.holdfast.http;

/** Is told what the HTTP side does, to count it. Called on its threads; returns at once. */
public interface HttpListener {

  /**
   * A request was answered with an error.
   *
   * @param status 400 or more
   */
  void refused(int status);
}
