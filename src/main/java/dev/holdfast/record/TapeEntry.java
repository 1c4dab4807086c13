package dev.holdfast.record;

import dev.holdfast.protocol.Body;
import java.time.Instant;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** One line of a tape, apart from the headers. */
public sealed interface TapeEntry {

  /** Time at which the gateway saw it, in milliseconds. */
  Instant time();

  /** Sender of a message. */
  enum Sender {
    CLIENT,
    SERVER;

    /** The word on the tape. */
    public String wire() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * A message.
   *
   * @param stream name of its stream; null for a message of the client that opens no stream
   * @param position its number on the stream, from 1; 0 without a stream
   */
  record Sent(Instant time, Sender from, @Nullable String stream, long position, Body body)
      implements TapeEntry {}

  /**
   * A place where messages are missing: the recorder could not keep up, or they were too long, or
   * they were not JSON-RPC.
   *
   * @param messages their number
   */
  record Missing(Instant time, long messages) implements TapeEntry {}

  /** A request or a stream that failed, with the reason for people to read. */
  record Failed(Instant time, String stream, String reason) implements TapeEntry {}
}
