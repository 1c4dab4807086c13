package dev.holdfast.resume;

import java.time.Duration;

/**
 * How long a client waits.
 *
 * @param withConnection for any byte on a connection, before it takes that for dead and asks on
 *     another
 * @param withCall for the next message, before it gives up: the call hangs
 */
public record ClientTimeouts(Duration withConnection, Duration withCall) {

  /** Never takes a connection for dead, and gives up after so long. */
  public static ClientTimeouts with(Duration call) {
    return new ClientTimeouts(call.multipliedBy(2), call);
  }

  /** With an answer that comes in one piece. */
  Duration withAnswer() {
    return withConnection.compareTo(withCall) < 0 ? withConnection : withCall;
  }
}
