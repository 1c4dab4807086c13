package dev.holdfast.relay.tail;

import java.time.Duration;

/** The way to one client: the body of one HTTP response. For one writing thread. */
public interface ClientConnection {

  /**
   * Begins to send bytes. Before the next write, {@link #awaitTaken} has to say that they went.
   *
   * @param bytes part of the SSE frames; not to be changed afterwards
   * @throws ClientGoneException when the client is no longer there
   */
  void write(byte[] bytes) throws ClientGoneException;

  /**
   * Waits until the socket has taken what was written. While the client does not read, this waits:
   * the log is the buffer.
   *
   * @param most how long to wait
   * @return false when it has not taken all of it by then; may be asked again
   * @throws ClientGoneException when the client is no longer there, and may not have got it
   */
  boolean awaitTaken(Duration most) throws ClientGoneException;

  /**
   * Cuts the connection off, whatever is still to be sent, and frees the thread that waits for it.
   * Returns at once. From any thread; further calls do nothing.
   */
  void abort();

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
