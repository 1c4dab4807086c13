package dev.holdfast.upstream.stdio;

/** A line is longer than anything that would be taken. */
public final class LineTooLongException extends Exception {
  LineTooLongException() {
    super("a line is too long", null, false, false);
  }
}
