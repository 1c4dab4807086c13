package dev.holdfast.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

/**
 * A program on another Java library, in {@code src/test/projects}. Maven builds it when it is first
 * needed, and again after a change.
 *
 * @param directory what the build has made
 */
public record JavaProject(Path directory) {
  private static final Path SOURCES = Path.of("src", "test", "projects");
  private static final Path TARGET = Path.of("target", "projects").toAbsolutePath();
  private static final Duration TIMEOUT = Duration.ofMinutes(5);

  /** Within this process; {@link FileChannel#lock()} only holds off other processes. */
  private static final ReentrantLock LOCK = new ReentrantLock();

  /**
   * Builds the program, unless that was done before.
   *
   * @param name its directory in {@code src/test/projects}
   * @param version of the library that it is about
   * @param properties further ones of its {@code pom.xml}, such as {@code -Dmcp-sdk.version=2.1.0}
   * @throws IllegalStateException if the build fails
   */
  public static JavaProject build(String name, String version, String... properties) {
    Path target = TARGET.resolve(String.join("", name, "-", version, String.join("", properties)));
    LOCK.lock();
    try {
      Files.createDirectories(TARGET);
      try (FileChannel lockFile =
              FileChannel.open(
                  TARGET.resolve(".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
          var _ = lockFile.lock()) {
        buildIfNeeded(name, version, target, List.of(properties));
      }
      return new JavaProject(target);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    } finally {
      LOCK.unlock();
    }
  }

  private static void buildIfNeeded(
      String name, String version, Path target, List<String> properties) throws IOException {
    // Written last: a build that was interrupted is repeated.
    Path built = target.resolve("built-from.txt");
    String sources =
        text(SOURCES.resolve("pom.xml"))
            + text(SOURCES.resolve("steps"))
            + text(SOURCES.resolve(name).resolve("pom.xml"))
            + text(SOURCES.resolve(name).resolve("src"));
    if (Files.exists(built) && Files.readString(built).equals(sources)) {
      return;
    }
    List<String> command =
        new ArrayList<>(
            List.of(
                System.getProperty("holdfast.maven", "mvn"),
                "-B",
                "-q",
                "-Dmaven.repo.local=" + repository(),
                "-Dlibrary.version=" + version,
                "-Dtarget.directory=" + target,
                "-DoutputDirectory=" + target.resolve("lib")));
    command.addAll(properties);
    command.addAll(List.of("package", "dependency:copy-dependencies"));
    ProcessResult result =
        ProcessRun.toEnd(
            SOURCES.resolve(name),
            Map.of(
                "JAVA_HOME", System.getProperty("java.home"),
                "MAVEN_OPTS", String.join(" ", PackagedProgram.shortLived())),
            TIMEOUT,
            command);
    if (result.exitCode() != 0) {
      throw new IllegalStateException(name + " was not built: " + result);
    }
    Files.writeString(built, sources);
  }

  private static String repository() {
    return System.getProperty(
        "holdfast.repository", System.getProperty("user.home") + "/.m2/repository");
  }

  private static String text(Path sources) throws IOException {
    StringBuilder all = new StringBuilder();
    try (Stream<Path> files = Files.walk(sources)) {
      for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
        all.append(file).append('\n').append(Files.readString(file));
      }
    }
    return all.toString();
  }

  /** The command line that starts the program. */
  public List<String> command(String... arguments) {
    List<String> command =
        new ArrayList<>(
            List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
    command.addAll(PackagedProgram.shortLived("-Xmx256m"));
    Path quarkus = directory.resolve("quarkus-app/quarkus-run.jar");
    if (Files.exists(quarkus)) {
      command.addAll(
          List.of(
              "-Dquarkus.http.host=127.0.0.1",
              "-Dquarkus.http.port=0",
              "-jar",
              quarkus.toString()));
    } else {
      String libraries = directory.resolve("lib") + "/*";
      command.addAll(
          List.of("-cp", directory.resolve("classes") + ":" + libraries, "com.example.Program"));
    }
    command.addAll(List.of(arguments));
    return command;
  }
}
