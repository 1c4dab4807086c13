package dev.holdfast.lock;

/** Hold of a lock. Closing it unlocks. */
@FunctionalInterface
public interface Hold extends AutoCloseable {
  @Override
  void close();
}
