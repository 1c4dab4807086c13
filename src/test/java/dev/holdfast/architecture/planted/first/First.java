package dev.holdfast.architecture.planted.first;

import dev.holdfast.architecture.planted.second.Second;

/** One half of a cycle that the rules must find. */
public record First(Second second) {

  /** A nested class. It counts as part of its outer class. */
  public record Nested(First outer) {}
}
