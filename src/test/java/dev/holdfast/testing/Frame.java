package dev.holdfast.testing;

import java.time.Duration;

/** What a client finds on a stream, one after the other. */
public sealed interface Frame {

  /**
   * An event.
   *
   * @param id the id that the client would resume from; empty when there is none
   * @param data its data; empty in a priming event
   */
  record Event(String id, String data) implements Frame {

    /** The event's number on its stream, the last part of its id. */
    public long number() {
      return Long.parseLong(id.substring(id.lastIndexOf('-') + 1));
    }
  }

  /** When to come back. */
  record Retry(Duration delay) implements Frame {}

  /** A comment. Its text is in {@link FrameStream#raw()} only. */
  record Comment() implements Frame {}

  /**
   * Nothing more comes.
   *
   * @param orderly whether the server ended the response; otherwise the connection broke
   */
  record End(boolean orderly) implements Frame {}
}
