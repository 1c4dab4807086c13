package dev.holdfast.upstream.local;

/** The result of an elicitation: a person's response to a form. */
public sealed interface ElicitationResult<F extends Record> {

  /** The person filled in the form. */
  record Accept<F extends Record>(F form) implements ElicitationResult<F> {}

  /** The person refused. */
  record Decline<F extends Record>() implements ElicitationResult<F> {}

  /** The person closed the form without a choice. */
  record Cancel<F extends Record>() implements ElicitationResult<F> {}
}
