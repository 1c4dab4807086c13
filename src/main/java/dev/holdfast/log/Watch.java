package dev.holdfast.log;

/** The registration of a {@link Watcher} with a stream. */
public interface Watch extends AutoCloseable {

  /** Ends the watch. A call of the watcher that is under way may still complete. */
  @Override
  void close();
}
