package dev.holdfast.cli;

import org.jspecify.annotations.Nullable;

/**
 * Result of one check by {@link DoctorCommand}.
 *
 * @param fix what the operator can do; null if there is nothing to do
 */
record CheckResult(String check, Verdict verdict, String found, @Nullable String fix) {

  /** Severity of a result, lowest first. */
  enum Verdict {
    FINE("fine", ExitCode.SUCCESS),
    /** It works, but perhaps not as the operator expects. */
    DOUBTFUL("doubtful", ExitCode.SUCCESS),
    WRONG("wrong", ExitCode.PROBLEM),
    STORE_UNAVAILABLE("wrong", ExitCode.STORE_UNAVAILABLE);

    private final String word;
    private final ExitCode exitCode;

    Verdict(String word, ExitCode exitCode) {
      this.word = word;
      this.exitCode = exitCode;
    }

    /** The word in the output. Scripts rely on it. */
    String word() {
      return word;
    }

    ExitCode exitCode() {
      return exitCode;
    }
  }

  static CheckResult fine(String check, String found) {
    return new CheckResult(check, Verdict.FINE, found, null);
  }

  static CheckResult doubtful(String check, String found, String fix) {
    return new CheckResult(check, Verdict.DOUBTFUL, found, fix);
  }

  static CheckResult wrong(String check, String found, String fix) {
    return new CheckResult(check, Verdict.WRONG, found, fix);
  }
}
