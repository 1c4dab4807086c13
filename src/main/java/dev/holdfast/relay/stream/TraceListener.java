package dev.holdfast.relay.stream;

import dev.holdfast.log.Position;
import dev.holdfast.log.StreamRef;
import dev.holdfast.protocol.Body;
import dev.holdfast.session.Session;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Follows operations from their begin to their end, for traces. While traces are off, callers have
 * null in its place, so that nothing is spent on them.
 *
 * <p>Each operation belongs to the one that runs on the same thread when it begins. Methods neither
 * wait for the receiver of the traces nor throw, apart from what the work throws.
 */
public interface TraceListener {

  /**
   * Begins a client's HTTP request, on this thread.
   *
   * @param header returns the value of a request header; null when there is none
   */
  Request request(String upstream, String method, Function<String, @Nullable String> header);

  /** A client's HTTP request. Closed at its end. */
  interface Request extends AutoCloseable {

    /** The request is answered with this status. */
    void answered(int status);

    @Override
    void close();
  }

  /** The request on this thread has this body. */
  void received(Body body);

  /** The request on this thread belongs to this session. */
  void found(Session session);

  /** The request on this thread opens a stream. Later operations on the stream refer to it. */
  void opening(StreamRef stream);

  /**
   * Makes the writing of a stream part of the operation that opened it or took it over.
   *
   * @return runs the work on any thread
   */
  Runnable writing(StreamRef stream, Runnable work);

  /**
   * Runs an append of events to a stream.
   *
   * @param <X> what the work throws
   */
  <X extends Exception> void append(StreamRef stream, int events, Append<X> work) throws X;

  /** Appends events. */
  @FunctionalInterface
  interface Append<X extends Exception> {
    void run() throws X;
  }

  /**
   * A tail begins to read a stream.
   *
   * @param after the cursor
   * @param resumed whether the client has resumed the stream
   */
  Reading reading(StreamRef stream, Position after, boolean resumed);

  /** The reading of a stream by one tail. */
  @FunctionalInterface
  interface Reading {

    /**
     * The tail has ended.
     *
     * @param replayed the number of events that were in the log before the tail waited for new ones
     * @param last the cursor
     */
    void ended(int replayed, Position last);
  }

  /** Runs the start of the writing of a stream that this replica has taken over. */
  void takeOver(StreamRef stream, Runnable work);
}
