package dev.holdfast.cli;

/** What the program ends with, for scripts. Documented in the README; numbers never change. */
enum ExitCode {
  /** Done, and nothing is wrong. */
  FINE(0, "done, and nothing is wrong"),
  /** Something is wrong or missing, or the program failed or could not start. */
  PROBLEM(1, "a problem was found, what was asked for is not there, or the program failed"),
  /** The words on the command line make no sense. */
  USAGE(2, "the command line is wrong"),
  /** The store cannot be reached. */
  STORE_AWAY(3, "the store cannot be reached");

  private final int number;
  private final String meaning;

  ExitCode(int number, String meaning) {
    this.number = number;
    this.meaning = meaning;
  }

  int number() {
    return number;
  }

  String meaning() {
    return meaning;
  }
}
