package dev.holdfast.upstream;

/**
 * The place of a session.
 *
 * @param transport as the configuration names it: {@code streamable-http}, {@code sse} or {@code
 *     stdio}; {@code local} if the server is inside this process, {@value #MERGED} if there are
 *     several
 * @param pinned whether the session is pinned to the process that opened it. Only that process can
 *     use the session, and the session is lost with the process
 * @param scarce whether a pinned session takes one of few places, such as a process, and does
 *     nothing when no client uses it
 * @param openHere whether a pinned session is open in this process
 * @param runsInProcess whether a call runs inside the process that made it, unless the session is
 *     pinned. Messages to a call (cancellations, and answers to its requests) must then reach that
 *     process. Each process with calls of the session gets each message once and ignores messages
 *     for other processes. So the ids of a server's requests must differ between processes
 */
public record Placement(
    String transport, boolean pinned, boolean scarce, boolean openHere, boolean runsInProcess) {

  /** Transport of a session with several servers. */
  public static final String MERGED = "merged";

  /** Of a session with a server in this process, which every replica has. */
  public static final Placement LOCAL = shared("local");

  /** Of a session that every replica can use. */
  public static Placement shared(String transport) {
    return new Placement(transport, false, false, false, false);
  }

  /** Returns true if the session is with several servers. */
  public boolean isMerged() {
    return transport.equals(MERGED);
  }

  /** The same place, with calls that run inside the process that made them. */
  public Placement inProcess() {
    return new Placement(transport, pinned, scarce, openHere, true);
  }
}
