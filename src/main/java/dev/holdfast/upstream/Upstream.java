package dev.holdfast.upstream;

import dev.holdfast.protocol.Message;

/**
 * One MCP server. Thread-safe; methods block their (virtual) thread for as long as the server
 * takes, bounded by the time-outs of the adapter.
 */
public interface Upstream extends AutoCloseable {

  /**
   * Opens a session by sending the client's {@code initialize} request as it is.
   *
   * @throws UpstreamException when the server gave no JSON-RPC answer; no session was opened
   */
  Handshake initialize(Message.Request initialize);

  /**
   * Speaks in a session that was opened before, by any replica. Sends nothing.
   *
   * @param link what {@link Handshake} gave when the session was opened
   */
  UpstreamSession attach(UpstreamLink link);

  /**
   * Whether a server like this may have opened a session. One that certainly did not was opened by
   * another that had its name then, and knows nothing of the session.
   *
   * @param link what {@link Handshake} gave when the session was opened, wherever that was
   */
  default boolean mayHaveOpened(UpstreamLink link) {
    return true;
  }

  /**
   * Whether calls run in the process that made them, so that what a client sends to a call must
   * come to that process: cancellations, and answers to what the call asks. It then comes to every
   * process in which calls of the session run, once, and those that it does not concern must ignore
   * it: so the ids of a server's requests must differ between processes. Otherwise the server finds
   * its session by itself, whichever process speaks to it.
   */
  default boolean isResident() {
    return false;
  }

  /**
   * Whether a session lives in the process that opened it: there it can be spoken in, from {@code
   * initialize} on and by nobody else, and when that process is lost, so is the session.
   *
   * @param link what {@link Handshake} gave when the session was opened, wherever that was
   */
  default boolean keepsSessions(UpstreamLink link) {
    return false;
  }

  /**
   * Whether a session that {@link #keepsSessions(UpstreamLink) was kept} and is lost can be opened
   * anew.
   */
  default boolean reopens() {
    return false;
  }

  /**
   * Opens a session that was lost anew, under its old name: from now on it lives in this process.
   * What the server knew of it is gone; it is told what it was told when the session began.
   *
   * @param link what {@link Handshake} gave when the session was opened, wherever that was
   * @param initialize the request that opened it
   * @param initialized whether the client has said since that it is initialized
   * @throws UpstreamException when the server does not open it as it was; {@link
   *     UpstreamException.SessionGone} when it never will
   */
  default void reopen(UpstreamLink link, Message.Request initialize, boolean initialized) {
    throw new UpstreamException.SessionGone();
  }

  /** Gives back connections and threads. Running calls fail. */
  @Override
  void close();
}
