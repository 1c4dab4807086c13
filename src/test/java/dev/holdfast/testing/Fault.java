package dev.holdfast.testing;

import java.time.Duration;

/** What a {@link FaultProxy} does to the answer of one request. */
public sealed interface Fault {
  /** Pass everything on. */
  record None() implements Fault {}

  /**
   * End the connection to the client as {@code ending} says, when {@code at} is reached and then
   * nothing was passed on for so long.
   */
  record Cut(Trigger at, Ending ending, Duration silence) implements Fault {
    /**
     * The same cut after a silence, as on a link that goes dead. A client may throw away what it
     * has received but not yet looked at when it learns of the end: this gives it time to look.
     */
    public Cut after(Duration newSilence) {
      return new Cut(at, ending, newSilence);
    }
  }

  /** Hold the answer back from {@code at} on, until {@link FaultProxy#release()}. */
  record Stall(Trigger at) implements Fault {}

  /** How a connection ends for the one who reads it. */
  enum Ending {
    /** As after a crash: the reader gets an error (TCP RST). */
    RESET,
    /** As after an orderly shutdown: the reader gets the end of the input (TCP FIN). */
    FIN
  }

  /** Passes everything on. */
  static Fault none() {
    return new None();
  }

  /** Resets the connection (RST) when {@code at} is reached. */
  static Cut reset(Trigger at) {
    return new Cut(at, Ending.RESET, Duration.ZERO);
  }

  /** Ends the connection in good order (FIN), though in the middle, when {@code at} is reached. */
  static Cut finish(Trigger at) {
    return new Cut(at, Ending.FIN, Duration.ZERO);
  }

  /** Holds the answer back from {@code at} on. */
  static Fault stall(Trigger at) {
    return new Stall(at);
  }

  /** A place in an answer. What lies before it is passed on to the last byte. */
  sealed interface Trigger {
    /**
     * After so many bytes of the answer, head and chunk framing included. With 0 nothing is passed
     * on, but the upstream has begun to answer, so it has acted on the request.
     */
    record AfterBytes(long count) implements Trigger {}

    /** After the blank line of the n-th SSE event, counted from 1; comments are no events. */
    record AfterEvents(int count) implements Trigger {}

    /** Inside the n-th SSE event, counted from 1, after so many of its bytes. */
    record InsideEvent(int event, int bytes) implements Trigger {}

    /** See {@link AfterBytes}. */
    static Trigger afterBytes(long count) {
      return new AfterBytes(count);
    }

    /** See {@link AfterEvents}. */
    static Trigger afterEvents(int count) {
      return new AfterEvents(count);
    }

    /** See {@link InsideEvent}. */
    static Trigger insideEvent(int event, int bytes) {
      return new InsideEvent(event, bytes);
    }
  }
}
