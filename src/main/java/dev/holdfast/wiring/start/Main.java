package dev.holdfast.wiring.start;

import dev.holdfast.cli.Holdfast;
import dev.holdfast.wiring.config.StartFailure;
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
