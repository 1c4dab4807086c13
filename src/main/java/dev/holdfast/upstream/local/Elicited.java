package dev.holdfast.upstream.local;

/** What a person made of a form. */
public sealed interface Elicited<F extends Record> {

  /** Filled it in. */
  record Accepted<F extends Record>(F form) implements Elicited<F> {}

  /** Said no. */
  record Declined<F extends Record>() implements Elicited<F> {}

  /** Closed it without a word. */
  record Dismissed<F extends Record>() implements Elicited<F> {}
}
