package dev.holdfast.log;

/** A place among the watchers of a stream. */
public interface Watch extends AutoCloseable {

  /** Leaves the place; the watcher is not called afterwards, but for a call already under way. */
  @Override
  void close();
}
