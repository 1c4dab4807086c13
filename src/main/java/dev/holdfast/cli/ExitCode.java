package dev.holdfast.cli;

/** Exit codes of the program. Scripts rely on the numbers, so they never change. */
enum ExitCode {
  SUCCESS(0),
  PROBLEM(1),
  USAGE(2),
  STORE_UNAVAILABLE(3),
  /** The call still runs. */
  RUNNING(4);

  private final int number;

  ExitCode(int number) {
    this.number = number;
  }

  int number() {
    return number;
  }
}
