package dev.holdfast.upstream;

import dev.holdfast.call.Caller;
import dev.holdfast.protocol.Message;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One MCP server. Thread-safe. Methods block their (virtual) thread until the server answers,
 * bounded by the timeouts of the adapter. A link comes from the {@link Handshake} of the session,
 * on any replica.
 */
public interface Upstream extends AutoCloseable {

  /**
   * Opens a session with the client's own {@code initialize} request. Where sessions are scarce,
   * each opener gets a share.
   *
   * @throws UpstreamException.Busy if the opener has its share
   * @throws UpstreamException when the server gives no JSON-RPC answer; no session is open then
   */
  Handshake initialize(Message.Request initialize, Caller opener);

  /** Opens a session for an unknown opener, as above. */
  default Handshake initialize(Message.Request initialize) {
    return initialize(initialize, Caller.UNKNOWN);
  }

  /** The traits of this server. */
  default Profile profile() {
    return Profile.PLAIN;
  }

  /** Attaches to a session that any replica has opened. Sends nothing. */
  UpstreamSession attach(UpstreamLink link);

  /** The place of a session that any replica has opened. */
  default Placement placement(UpstreamLink link) {
    return Placement.LOCAL;
  }

  /**
   * Returns true if this server may have opened a session. Returns false only if the configured
   * name meant another server at that time.
   */
  default boolean mayHaveOpened(UpstreamLink link) {
    return true;
  }

  /**
   * Returns the sessions with other upstreams that a session of this one uses, by the configured
   * names of those. Reads the session store.
   *
   * @throws dev.holdfast.session.SessionStoreException while that is away
   */
  default Map<String, UpstreamLink> members(UpstreamLink link) {
    return Map.of();
  }

  /**
   * Opens a lost session again under its old id, {@linkplain Placement.Pinned pinned} to this
   * process. The server gets the messages that began the session. All other state of the session is
   * lost.
   *
   * @param initialize the request that opened the session
   * @param initialized whether the client has sent {@code notifications/initialized}
   * @throws UpstreamException when the server does not open the session as before; {@link
   *     UpstreamException.SessionGone} when a retry cannot succeed
   */
  default void reopen(UpstreamLink link, Message.Request initialize, boolean initialized) {
    throw new UpstreamException.SessionGone();
  }

  /**
   * A tool as its server calls it.
   *
   * @param server configured name of the server; null for the upstream itself
   */
  record ToolName(@Nullable String server, String tool) {}

  /** The tool that a {@code tools/call} means. Does not wait. */
  default ToolName tool(Message.Request call, Caller caller) {
    return new ToolName(null, String.valueOf(call.toolName()));
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
