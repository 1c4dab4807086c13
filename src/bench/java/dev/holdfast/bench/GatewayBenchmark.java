package dev.holdfast.bench;

import java.io.IOException;

/**
 * Measures the packaged gateway from outside, next to no proxy at all and next to plain ones, all
 * on this machine and in one run. Starts what it needs by itself. While it measures it sees that no
 * event is lost and none comes twice; otherwise it fails.
 *
 * <p>See {@code docs/benchmarks.md} for how to start it and how to read it.
 */
final class GatewayBenchmark {

  private static final int WRONG_RESULT = 1;
  private static final int WRONG_USE = 2;

  private GatewayBenchmark() {}

  /** Prints the figures as Markdown, and what is being done to standard error. */
  public static void main(String[] args) throws IOException, InterruptedException {
    int status = run(args);
    if (status != 0) {
      System.exit(status);
    }
  }

  private static int run(String[] args) throws IOException, InterruptedException {
    Options options;
    try {
      options = Options.parse(args);
    } catch (IllegalArgumentException wrong) {
      System.err.println(wrong.getMessage() + "; possible are: " + Options.USAGE);
      return WRONG_USE;
    }
    try (BenchmarkEnvironment lab = new BenchmarkEnvironment(options.before())) {
      Report report = new Report(new Measurements(lab, options).take());
      System.out.println(Machine.describe(lab) + "\n");
      System.out.println(report.table());
      return 0;
    } catch (WrongResultException wrong) {
      wrong.printStackTrace();
      return WRONG_RESULT;
    }
  }
}
