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

  /** Gives back connections and threads. Running calls fail. */
  @Override
  void close();
}
