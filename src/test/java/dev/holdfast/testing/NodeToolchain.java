package dev.holdfast.testing;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Brings the packages named in {@code src/test/node/package.json} to {@code
 * src/test/node/node_modules}, among them the Node.js that runs the scripts: the conformance suite
 * needs a newer one than many machines have.
 */
final class NodeToolchain {
  private static final Path HOME = Path.of("src", "test", "node").toAbsolutePath();
  private static final Path MODULES = HOME.resolve("node_modules");
  private static final Duration INSTALL_TIMEOUT = Duration.ofMinutes(5);

  /** Within this process; {@link FileChannel#lock()} only holds off other processes. */
  private static final ReentrantLock LOCK = new ReentrantLock();

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
    LOCK.lock();
    try {
      Files.createDirectories(MODULES);
      try (FileChannel lockFile =
              FileChannel.open(
                  MODULES.resolve(".install.lock"),
                  StandardOpenOption.CREATE,
                  StandardOpenOption.WRITE);
          var _ = lockFile.lock()) {
        installIfNeeded();
      }
    } catch (IOException e) {
      throw new IllegalStateException("Cannot prepare " + MODULES, e);
    } finally {
      LOCK.unlock();
    }
    return MODULES.resolve(".bin", "node");
  }

  private static void installIfNeeded() throws IOException {
    // A copy, because times of change say little after a checkout, and because it is written last:
    // an install that was interrupted is repeated.
    Path installed = MODULES.resolve(".installed.json");
    String wanted = Files.readString(HOME.resolve("package.json"));
    if (Files.exists(installed) && Files.readString(installed).equals(wanted)) {
      return;
    }
    ProcessResult result = npmInstall();
    if (result.exitCode() != 0) {
      throw new IllegalStateException("npm install failed in " + HOME + ": " + result);
    }
    Files.writeString(installed, wanted);
  }

  private static ProcessResult npmInstall() {
    try {
      return ProcessRun.toEnd(HOME, INSTALL_TIMEOUT, List.of("npm", "install"));
    } catch (IOException e) {
      throw new IllegalStateException(
          "These tests need npm on the PATH: install Node.js 20 or newer, https://nodejs.org", e);
    }
  }
}
