package dev.holdfast.bench;

/** Takes bytes as they come: pieces of a body, or whole messages. */
@FunctionalInterface
interface Sink {

  /** Takes some. The array is reused afterwards. */
  void take(byte[] array, int offset, int length);
}
