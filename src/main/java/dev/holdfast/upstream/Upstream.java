package dev.holdfast.upstream;

import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Opener;
import java.util.Set;

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
   * @throws UpstreamException.Busy if the opener has its share
   */
  default Handshake initialize(Message.Request initialize, Opener opener) {
    return initialize(initialize);
  }

  /** The headers of clients that this server gets, by name in lower case. */
  default Set<String> forwardedHeaders() {
    return Set.of();
  }

  /** The scopes of clients that decide what they may do at this server. */
  default Set<String> namedScopes() {
    return Set.of();
  }

  /** Whether this server gets, or is shown something for, the access tokens of clients. */
  default boolean needsClientToken() {
    return false;
  }

  /** Attaches to a session that any replica has opened. Sends nothing. */
  UpstreamSession attach(UpstreamLink link);

  /**
   * Returns the transport of a session, as the configuration names it: {@code streamable-http},
   * {@code sse} or {@code stdio}; {@code local} if the server is inside this process.
   */
  default String transport(UpstreamLink link) {
    return "local";
  }

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

  /**
   * Whether a session takes one of few places, such as a process, and does nothing when no client
   * uses it. Such a session is {@linkplain #isPinned pinned}.
   */
  default boolean isScarce(UpstreamLink link) {
    return false;
  }

  /** Whether a {@linkplain #isPinned pinned} session is open in this process. */
  default boolean isOpenHere(UpstreamLink link) {
    return false;
  }

  /** Whether this server opens new sessions. One that was removed only serves those it has. */
  default boolean opensSessions() {
    return true;
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

  /** The child processes of this server on this replica. */
  default ProcessCount processes() {
    return ProcessCount.NONE;
  }

  /**
   * A number of processes.
   *
   * @param running those that run, including those that are ending
   * @param limit how many may run at once
   */
  record ProcessCount(int running, int limit) {
    /** Of a server without processes. */
    public static final ProcessCount NONE = new ProcessCount(0, 0);
  }

  /** Releases connections and threads. Running calls fail. */
  @Override
  void close();
}
