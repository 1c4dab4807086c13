package dev.holdfast.log;

/** Is told about a stream. Its methods return at once. */
public interface Watcher {

  /** There may be something new to read, or the stream or its session may have ended. */
  void wake();

  /** A newer tail has taken this one's place. */
  void evicted();
}
