package dev.holdfast.cli;

/** What became of the words on the command line. */
sealed interface ParsedCommandLine {

  /** They ask for something that is still to be done. */
  record Wanted(Command command) implements ParsedCommandLine {}

  /**
   * All is said: help, the version, or what is wrong with them.
   *
   * @param code with which the program ends; unless it is fine, the text goes to stderr
   */
  record Answered(ExitCode code, String text) implements ParsedCommandLine {}
}
