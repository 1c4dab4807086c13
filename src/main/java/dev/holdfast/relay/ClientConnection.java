package dev.holdfast.relay;

/** The way to one client: the body of one HTTP response. For one writing thread. */
public interface ClientConnection {

  /**
   * Sends bytes and waits until the socket has taken them. While the client does not read, this
   * waits: the log is the buffer.
   *
   * @param bytes whole SSE frames; not to be changed afterwards
   * @throws ClientGoneException when the client is no longer there
   */
  void write(byte[] bytes) throws ClientGoneException;

  /**
   * Has a listener told, once and from any thread, when the client is gone.
   *
   * @param listener returns at once
   */
  void onGone(Runnable listener);

  /**
   * Sends a last few bytes with the end of the response. Does not wait for the socket.
   *
   * @param last whole SSE frames; not to be changed afterwards
   * @throws ClientGoneException when the client is no longer there
   */
  default void end(byte[] last) throws ClientGoneException {
    write(last);
    end();
  }

  /** Ends the response. Further calls do nothing. */
  void end();
}
