package dev.holdfast.upstream;

/** The place of a session. */
public sealed interface Placement {

  /** Of a session with a server in this process, which every replica has. */
  Placement LOCAL = new Anywhere("local");

  /**
   * The transport as the configuration names it: {@code streamable-http}, {@code sse} or {@code
   * stdio}; {@code local} if the server is inside this process, {@code merged} if there are
   * several.
   */
  String transport();

  /** Every replica can use the session. */
  record Anywhere(String transport) implements Placement {}

  /**
   * Every replica can use the session, but a call runs inside the process that made it. Messages to
   * a call (cancellations, and answers to its requests) must reach that process. Each process with
   * calls of the session gets each message once and ignores messages for other processes. So the
   * ids of a server's requests must differ between processes.
   *
   * @param keeps whether a server may keep something for the session
   * @param silent whether the server sends nothing outside of requests
   */
  record InProcess(String transport, boolean keeps, boolean silent) implements Placement {}

  /**
   * Only the process that opened the session can use it. The session is lost with the process.
   *
   * @param scarce whether it takes one of few places, such as a process, and does nothing when no
   *     client uses it
   * @param openHere whether it is open in this process
   */
  record Pinned(String transport, boolean scarce, boolean openHere) implements Placement {}
}
