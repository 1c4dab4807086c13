package dev.holdfast.upstream;

import java.util.List;
import java.util.function.Consumer;

/**
 * Messages as they come from a server. For one reading thread.
 *
 * <p>What is not taken is held back: a source keeps a bounded amount and lets the server wait.
 * Where the server gave ids to its events, a broken connection is resumed without the reader
 * noticing.
 */
public interface MessageSource extends AutoCloseable {

  /**
   * Waits for messages and takes all that have arrived.
   *
   * @return at least one message in order; an empty list when the source has come to its end and
   *     will bring no more
   * @throws UpstreamException when the stream broke and cannot be resumed; the source is then
   *     closed
   */
  List<UpstreamMessage> take();

  /**
   * Has a listener told, by the reading thread, of events that carry an id and no message: the
   * stream can be resumed from there as well. A source without such events never calls it.
   *
   * @param listener gets the id; returns at once
   */
  default void whenMoved(Consumer<String> listener) {}

  /** Lets go of the connection. A thread in {@link #take()} gets an empty list. Idempotent. */
  @Override
  void close();
}
