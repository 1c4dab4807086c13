package dev.holdfast.testing;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * Brings the packages named in {@code src/test/node/package.json} to {@code
 * src/test/node/node_modules}, among them the Node.js that runs the scripts: the conformance suite
 * needs a newer one than many machines have.
 */
final class NodeToolchain {
  private static final Path HOME = Path.of("src", "test", "node").toAbsolutePath();
  private static final NodePackages PACKAGES =
      new NodePackages(HOME, "package.json", List.of("npm", "install"), Duration.ofMinutes(5));

  private NodeToolchain() {}

  /**
   * Installs the packages. The build runs this in the background while it does other work; {@link
   * #node()} waits for it, and repeats what fails here.
   *
   * @param args none
   */
  public static void main(String[] args) {
    ProcessRun.killDescendantsAtExit();
    try {
      node();
    } catch (IllegalStateException failed) {
      System.err.println(failed.getMessage());
    }
  }

  /** The directory of the scripts and the working directory of every process that runs one. */
  static Path home() {
    return HOME;
  }

  /**
   * The Node.js to run scripts with; installs it and all packages first unless that was done before
   * for this very {@code package.json}.
   *
   * @throws IllegalStateException if npm is missing or fails
   */
  static Path node() {
    return PACKAGES.install(Map.of()).resolve(".bin", "node");
  }
}
