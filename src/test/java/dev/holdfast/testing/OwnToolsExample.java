package dev.holdfast.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Builds {@code examples/own-tools} as a user does, with the library of this build. */
public final class OwnToolsExample {

  private static final Path SOURCE = Path.of("examples", "own-tools");
  private static final Path GROUP = Path.of("dev", "holdfast");
  private static final Pattern LIBRARY =
      Pattern.compile("holdfast-(\\d[\\w.]*(?:-SNAPSHOT)?)\\.jar");
  private static final Duration TIMEOUT = Duration.ofMinutes(3);

  private OwnToolsExample() {}

  /**
   * Builds a copy of the example, without the network.
   *
   * @param directory an empty directory outside this project
   * @return the program
   * @throws IllegalStateException if the build fails
   */
  public static Path build(Path directory) {
    try {
      Path project = copy(directory.resolve("own-tools"));
      Path repository = directory.resolve("repository");
      String version = addLibrary(repository);
      ProcessResult built =
          ProcessRun.toEnd(
              project,
              Map.of(
                  "JAVA_HOME", System.getProperty("java.home"),
                  "MAVEN_OPTS", String.join(" ", PackagedProgram.shortLived())),
              TIMEOUT,
              List.of(
                  System.getProperty("holdfast.maven", "mvn"),
                  "-B",
                  "-o",
                  "-q",
                  "-Dmaven.repo.local=" + repository,
                  "-Dholdfast.version=" + version,
                  "package"));
      if (built.exitCode() != 0) {
        throw new IllegalStateException("The example was not built: " + built);
      }
      unlink(repository);
      unlink(repository.resolve(GROUP.getName(0)));
      return project.resolve("target/quarkus-app/quarkus-run.jar");
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static Path copy(Path target) throws IOException {
    try (Stream<Path> files = Files.walk(SOURCE)) {
      for (Path file : files.filter(file -> !file.startsWith(SOURCE.resolve("target"))).toList()) {
        Files.copy(file, target.resolve(SOURCE.relativize(file).toString()));
      }
    }
    return target;
  }

  /**
   * Makes a repository of links to all that this build has, with the library of this build added,
   * as {@code mvn install} adds it. Returns the version of the library.
   */
  private static String addLibrary(Path repository) throws IOException {
    Path existing =
        Path.of(
            System.getProperty(
                "holdfast.repository", System.getProperty("user.home") + "/.m2/repository"));
    linkAll(existing, repository, GROUP.getName(0));
    linkAll(
        existing.resolve(GROUP.getName(0)), repository.resolve(GROUP.getName(0)), GROUP.getName(1));
    Path jar = jar();
    Matcher name = LIBRARY.matcher(jar.getFileName().toString());
    String version = name.matches() ? name.group(1) : "";
    Path library =
        Files.createDirectories(repository.resolve(GROUP).resolve("holdfast").resolve(version));
    Files.copy(jar, library.resolve(jar.getFileName()));
    Files.copy(Path.of("pom.xml"), library.resolve("holdfast-" + version + ".pom"));
    return version;
  }

  private static void linkAll(Path from, Path to, Path besides) throws IOException {
    Files.createDirectories(to);
    try (Stream<Path> children = Files.exists(from) ? Files.list(from) : Stream.empty()) {
      for (Path child : children.filter(child -> !child.endsWith(besides)).toList()) {
        Files.createSymbolicLink(to.resolve(child.getFileName()), child);
      }
    }
  }

  /** JUnit warns of links when it deletes a directory. */
  private static void unlink(Path directory) throws IOException {
    try (Stream<Path> children = Files.list(directory)) {
      for (Path link : children.filter(Files::isSymbolicLink).toList()) {
        Files.delete(link);
      }
    }
  }

  private static Path jar() throws IOException {
    try (Stream<Path> files = Files.list(Path.of("target"))) {
      return files
          .filter(file -> LIBRARY.matcher(file.getFileName().toString()).matches())
          .findFirst()
          .orElseThrow(() -> new IllegalStateException("The build has made no library"));
    }
  }
}
