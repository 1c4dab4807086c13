package dev.holdfast.cli;

import dev.holdfast.log.Position;
import dev.holdfast.session.SessionId;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the program is asked to do. */
sealed interface Command {

  /**
   * Configuration that the command line gives: by key, in effect before that of any other source.
   */
  Map<String, String> settings();

  /** Runs the gateway. */
  record Serve(Map<String, String> settings) implements Command {}

  /** Is an MCP server on stdin and stdout. */
  record Stdio(Map<String, String> settings) implements Command {}

  /** Looks for what is wrong. */
  record Doctor(Map<String, String> settings, boolean json) implements Command {}

  /** Lists sessions. */
  record Sessions(Map<String, String> settings, boolean json) implements Command {}

  /**
   * Lists streams.
   *
   * @param session of this one; null for all
   */
  record Streams(Map<String, String> settings, @Nullable SessionId session, boolean json)
      implements Command {}

  /**
   * Follows a stream.
   *
   * @param stream its name; null for the one that has what the session's server says unasked
   * @param after the event after which it begins; the start of the stream if none was named
   */
  record Tail(
      Map<String, String> settings,
      SessionId session,
      @Nullable String stream,
      Position after,
      boolean json)
      implements Command {}

  /** Ends sessions. */
  record Purge(Map<String, String> settings, Scope scope, boolean json) implements Command {}

  /** Which sessions are ended. */
  sealed interface Scope {

    /** One. */
    record One(SessionId session) implements Scope {}

    /** Those that nobody used for too long and no sweep has found yet. */
    record Expired() implements Scope {}

    /** All. */
    record All() implements Scope {}
  }
}
