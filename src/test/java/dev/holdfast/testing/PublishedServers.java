package dev.holdfast.testing;

import java.io.File;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * MCP servers over stdio as npm has them, in the versions of {@code src/test/servers}. The first
 * use installs them, without the scripts of their packages.
 */
public final class PublishedServers {
  private static final Path HOME = Path.of("src", "test", "servers").toAbsolutePath();
  private static final NodePackages PACKAGES =
      new NodePackages(
          HOME,
          "package-lock.json",
          List.of("npm", "install", "--ignore-scripts"),
          Duration.ofMinutes(30));

  private PublishedServers() {}

  /** The directory of {@code package.json}. */
  public static Path home() {
    return HOME;
  }

  /**
   * Installs the servers, unless that was done before.
   *
   * @throws IllegalStateException if npm is missing or fails
   */
  public static void install() {
    String path = NodeToolchain.node().getParent() + File.pathSeparator + System.getenv("PATH");
    Path _ = PACKAGES.install(Map.of("PATH", path));
  }

  /**
   * The command line of a server.
   *
   * @param script its path below {@code node_modules}
   * @param arguments what the server gets
   */
  public static List<String> command(String script, List<String> arguments) {
    List<String> command =
        new ArrayList<>(
            List.of(
                NodeToolchain.node().toString(),
                HOME.resolve("node_modules").resolve(script).toString()));
    command.addAll(arguments);
    return command;
  }

  /**
   * The option of Node.js that makes a server refuse connections to other machines; for {@code
   * NODE_OPTIONS}.
   */
  public static String loopbackOnly() {
    return "--require=" + HOME.resolve("loopback-only.cjs");
  }
}
