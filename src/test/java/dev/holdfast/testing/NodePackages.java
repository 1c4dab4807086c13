package dev.holdfast.testing;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Packages that npm installs to {@code node_modules} of a directory.
 *
 * @param home the directory of {@code package.json}
 * @param list the file whose change makes a new installation necessary
 * @param npm the command that installs the packages
 * @param limit how long the command may take
 */
record NodePackages(Path home, String list, List<String> npm, Duration limit) {

  /** Within this process; {@link FileChannel#lock()} only holds off other processes. */
  private static final ReentrantLock LOCK = new ReentrantLock();

  /**
   * Installs the packages, unless that was done before for this very {@link #list()}.
   *
   * @param environment variables of npm besides those of this process
   * @return {@code node_modules}
   * @throws IllegalStateException if npm is missing or fails
   */
  Path install(Map<String, String> environment) {
    Path modules = modules();
    LOCK.lock();
    try {
      Files.createDirectories(modules);
      try (FileChannel lockFile =
              FileChannel.open(
                  modules.resolve(".install.lock"),
                  StandardOpenOption.CREATE,
                  StandardOpenOption.WRITE);
          var _ = lockFile.lock()) {
        installIfNeeded(environment);
      }
    } catch (IOException e) {
      throw new IllegalStateException("Cannot prepare " + modules, e);
    } finally {
      LOCK.unlock();
    }
    return modules;
  }

  private Path modules() {
    return home.resolve("node_modules");
  }

  private void installIfNeeded(Map<String, String> environment) throws IOException {
    // A copy, because times of change say little after a checkout, and because it is written last:
    // an install that was interrupted is repeated.
    Path installed = modules().resolve(".installed.json");
    String wanted = Files.readString(home.resolve(list));
    if (Files.exists(installed) && Files.readString(installed).equals(wanted)) {
      return;
    }
    ProcessResult result = run(environment);
    if (result.exitCode() != 0) {
      throw new IllegalStateException(npm + " failed in " + home + ": " + result);
    }
    Files.writeString(installed, wanted);
  }

  private ProcessResult run(Map<String, String> environment) {
    try {
      return ProcessRun.toEnd(home, environment, limit, npm);
    } catch (IOException e) {
      throw new IllegalStateException(
          "These tests need npm on the PATH: install Node.js 20 or newer, https://nodejs.org", e);
    }
  }
}
