package dev.holdfast.testing;

/**
 * What a process left behind when it ended.
 *
 * @param exitCode 0 by custom if all went well
 * @param stdout everything that it wrote to its standard output
 * @param stderr everything that it wrote to its standard error
 */
public record ProcessResult(int exitCode, String stdout, String stderr) {
  @Override
  public String toString() {
    return "exit code " + exitCode + "\nstdout:\n" + stdout + "\nstderr:\n" + stderr;
  }
}
