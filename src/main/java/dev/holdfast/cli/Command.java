package dev.holdfast.cli;

import dev.holdfast.log.Position;
import dev.holdfast.log.StreamRef;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A command with its options, as the command line gives them. */
sealed interface Command {

  /** Returns the configuration from the options, by key. It overrides all other sources. */
  default Map<String, String> properties() {
    return Map.of();
  }

  /** Returns whether the results are printed as JSON, one object per line. */
  default boolean json() {
    return false;
  }

  /**
   * Prints a text and exits: help, version or a usage error.
   *
   * @param code exit code; the text goes to stdout if it is {@link ExitCode#SUCCESS}, else to
   *     stderr
   */
  record Print(ExitCode code, String text) implements Command {}

  record Serve(Map<String, String> properties) implements Command {}

  /**
   * Runs a gateway whose default upstream plays a tape.
   *
   * @param speed how much faster than recorded
   * @param waits whether there is time between messages
   */
  record Replay(Map<String, String> properties, Path tape, double speed, boolean waits)
      implements Command {}

  /**
   * Compares a tape with the default upstream.
   *
   * @param ignored JSON pointers of values that may differ
   */
  record Verify(Map<String, String> properties, Path tape, List<String> ignored, boolean json)
      implements Command {}

  /** Prints a tape, without starting Quarkus. */
  record Show(Path tape, boolean json) implements Command {}

  /**
   * Connects a client on stdin and stdout to the default upstream.
   *
   * @param opensBrowser whether a browser opens when the upstream wants a sign-in
   */
  record Stdio(Map<String, String> properties, boolean opensBrowser) implements Command {}

  /** Checks the installation. */
  record Doctor(Map<String, String> properties, boolean json) implements Command {}

  /** Prints the configuration in force. */
  record Config(boolean onlyCheck, boolean json) implements Command {}

  /** Asks the gateway on this machine whether it is alive, without starting Quarkus. */
  record Live(int port) implements Command {}

  /** A command that reads the store of a gateway, and therefore needs a shared store. */
  sealed interface OnStore extends Command {}

  /** A command about sessions and their streams. */
  sealed interface OnSessions extends OnStore {}

  /** A command about calls. */
  sealed interface OnCalls extends OnStore {}

  /** Lists calls. */
  record Calls(Map<String, String> properties, CallFilter filter, boolean json)
      implements OnCalls {}

  /**
   * Prints the result of a call.
   *
   * @param waits whether to wait until the call has ended
   */
  record Result(Map<String, String> properties, StreamRef call, boolean waits, boolean json)
      implements OnCalls {}

  /** Ends a call that runs. */
  record Cancel(Map<String, String> properties, StreamRef call, boolean json) implements OnCalls {}

  record Sessions(Map<String, String> properties, boolean json) implements OnSessions {}

  /**
   * Lists streams.
   *
   * @param session beginning of the session id; null for all sessions
   */
  record Streams(Map<String, String> properties, @Nullable String session, boolean json)
      implements OnSessions {}

  /**
   * Prints a stream and follows it.
   *
   * @param session beginning of the session id
   * @param stream name of the stream; null for the session's standalone stream
   * @param after position of the last event that is not printed
   */
  record Tail(
      Map<String, String> properties,
      String session,
      @Nullable String stream,
      Position after,
      boolean json)
      implements OnSessions {}

  /**
   * Ends one session, or all that exceeded the idle timeout and that no sweep has removed yet.
   *
   * @param session beginning of the session id; null for the expired sessions
   * @param all whether all other sessions end, too
   */
  record Purge(Map<String, String> properties, @Nullable String session, boolean all, boolean json)
      implements OnSessions {}
}
