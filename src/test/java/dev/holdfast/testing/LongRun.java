package dev.holdfast.testing;

/** The long form of tests that have a short one for every build. */
public final class LongRun {

  /** Whether {@code -Dholdfast.faults=long} asks for it. */
  public static final boolean REQUESTED = "long".equals(System.getProperty("holdfast.faults"));

  private LongRun() {}
}
