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
   * Whether calls run in the process that made them, so that what a client sends to a call must
   * come to that process: cancellations, and answers to what the call asks. It then comes to every
   * process in which calls of the session run, once, and those that it does not concern must ignore
   * it: so the ids of a server's requests must differ between processes. Otherwise the server finds
   * its session by itself, whichever process speaks to it.
   */
  default boolean isResident() {
    return false;
  }

  /** Gives back connections and threads. Running calls fail. */
  @Override
  void close();
}
