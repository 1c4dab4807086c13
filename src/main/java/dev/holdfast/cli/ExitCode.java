package dev.holdfast.cli;

/** Exit codes of the program. Scripts rely on the numbers, so they never change. */
enum ExitCode {
  SUCCESS(0, "success"),
  PROBLEM(1, "a problem was found, something does not exist, or the program failed"),
  USAGE(2, "the command line is invalid"),
  STORE_UNAVAILABLE(3, "the store cannot be reached");

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
