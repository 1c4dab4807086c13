package dev.holdfast.upstream.local;

/** What a person made of a form. */
public sealed interface ElicitationResult<F extends Record> {

  /** Filled it in. */
  record Accepted<F extends Record>(F form) implements ElicitationResult<F> {}

  /** Said no. */
  record Declined<F extends Record>() implements ElicitationResult<F> {}

  /** Closed it without a word. */
  record Dismissed<F extends Record>() implements ElicitationResult<F> {}
}
