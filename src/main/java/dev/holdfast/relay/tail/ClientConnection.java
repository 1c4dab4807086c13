package dev.holdfast.relay.tail;

import java.time.Duration;

/** The connection to one client: the body of one HTTP response. For one writing thread. */
public interface ClientConnection {

  /**
   * Takes bytes for a large event, which wait here while the client reads slowly.
   *
   * @return false if too many bytes wait for clients; nothing is taken then
   */
  default boolean tryHold(long bytes) {
    return true;
  }

  /** Gives back all bytes of {@link #tryHold}. */
  default void giveBack() {}

  /**
   * Starts to write bytes. The caller calls {@link #awaitTaken} until it returns true before the
   * next write.
   *
   * @param bytes part of the SSE frames; the caller does not change them afterwards
   * @throws ClientGoneException when the client is gone
   */
  void write(byte[] bytes) throws ClientGoneException;

  /**
   * Waits until the socket has taken the bytes. It waits while the client does not read: the log is
   * the buffer.
   *
   * @param most the longest wait
   * @return false when the time is over; the caller may wait again
   * @throws ClientGoneException when the client is gone and may not have received the bytes
   */
  boolean awaitTaken(Duration most) throws ClientGoneException;

  /**
   * Resets the connection and wakes the thread that waits for it. Returns at once. Any thread may
   * call it; further calls do nothing.
   */
  void abort();

  /**
   * Registers a listener for the loss of the client. It is called once, on any thread.
   *
   * @param listener returns at once
   */
  void onGone(Runnable listener);

  /**
   * Notes that the client gets nothing for a while, so that memory need hold little for it. May
   * wait for a moment. Called by the writing thread.
   */
  default void idle() {}

  /**
   * Writes the last bytes with the end of the response. Does not wait for the socket.
   *
   * @param last whole SSE frames; the caller does not change them afterwards
   * @throws ClientGoneException when the client is gone
   */
  default void end(byte[] last) throws ClientGoneException {
    write(last);
    end();
  }

  /** Ends the response. Further calls do nothing. */
  void end();
}
