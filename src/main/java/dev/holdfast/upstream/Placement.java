package dev.holdfast.upstream;

/**
 * The place of a session.
 *
 * @param transport as the configuration names it: {@code streamable-http}, {@code sse} or {@code
 *     stdio}; {@code local} if the server is inside this process
 * @param pinned whether the session is pinned to the process that opened it. Only that process can
 *     use the session, and the session is lost with the process
 * @param scarce whether a pinned session takes one of few places, such as a process, and does
 *     nothing when no client uses it
 * @param openHere whether a pinned session is open in this process
 */
public record Placement(String transport, boolean pinned, boolean scarce, boolean openHere) {

  /** Of a session with a server in this process, which every replica has. */
  public static final Placement LOCAL = shared("local");

  /** Of a session that every replica can use. */
  public static Placement shared(String transport) {
    return new Placement(transport, false, false, false);
  }
}
