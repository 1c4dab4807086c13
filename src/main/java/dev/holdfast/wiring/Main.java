package dev.holdfast.wiring;

import dev.holdfast.cli.Holdfast;
import io.quarkus.runtime.annotations.QuarkusMain;

/** Entry point of the program. */
@QuarkusMain
public final class Main {

  private Main() {}

  /** Runs the program. */
  public static void main(String... arguments) {
    Holdfast.run(StartFailure::lines, arguments);
  }
}
