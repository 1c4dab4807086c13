package dev.holdfast.upstream;

import dev.holdfast.protocol.Message;

/**
 * One MCP server. Thread-safe. Methods block their (virtual) thread until the server answers,
 * bounded by the timeouts of the adapter. A link comes from the {@link Handshake} of the session,
 * on any replica.
 */
public interface Upstream extends AutoCloseable {

  /**
   * Opens a session with the client's own {@code initialize} request, for an unknown opener.
   *
   * @throws UpstreamException when the server gives no JSON-RPC answer; no session is open then
   */
  Handshake initialize(Message.Request initialize);

  /**
   * Opens a session for one of many clients. Where sessions are scarce, each client gets a share.
   *
   * @param opener who opens the session, such as the network of a client; empty when unknown
   * @throws UpstreamException.Busy if the opener has its share
   */
  default Handshake initialize(Message.Request initialize, String opener) {
    return initialize(initialize);
  }

  /** Attaches to a session that any replica has opened. Sends nothing. */
  UpstreamSession attach(UpstreamLink link);

  /**
   * Whether this server may have opened a session. Returns false only if the configured name meant
   * another server at that time.
   */
  default boolean mayHaveOpened(UpstreamLink link) {
    return true;
  }

  /**
   * Whether a call runs inside the process that made it. Messages to a call (cancellations, and
   * answers to its requests) must then reach that process. Each process with calls of the session
   * gets each message once and ignores messages for other processes. So the ids of a server's
   * requests must differ between processes.
   */
  default boolean runsInProcess() {
    return false;
  }

  /**
   * Whether a session is pinned to the process that opened it. Only that process can use the
   * session, and the session is lost with the process.
   */
  default boolean isPinned(UpstreamLink link) {
    return false;
  }

  /** Whether a lost {@linkplain #isPinned pinned} session can be opened again. */
  default boolean canReopen() {
    return false;
  }

  /**
   * Opens a lost session again under its old id, pinned to this process. The server gets the
   * messages that began the session. All other state of the session is lost.
   *
   * @param initialize the request that opened the session
   * @param initialized whether the client has sent {@code notifications/initialized}
   * @throws UpstreamException when the server does not open the session as before; {@link
   *     UpstreamException.SessionGone} when a retry cannot succeed
   */
  default void reopen(UpstreamLink link, Message.Request initialize, boolean initialized) {
    throw new UpstreamException.SessionGone();
  }

  /** Releases connections and threads. Running calls fail. */
  @Override
  void close();
}
