package dev.holdfast.log;

/** Receives notifications about one stream. Its methods must return at once. */
public interface Watcher {

  /** There may be new events, or the stream or its session may have ended. */
  void wake();

  /** A newer tail has replaced this one. */
  void evicted();
}
