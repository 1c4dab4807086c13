package dev.holdfast.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Builds {@code examples/own-tools} as a user does, with the library of this build. */
public final class OwnToolsExample {

  /** Tools, prompts and resources with the names that the test servers have. */
  public static final Path TEST_TOOLS =
      Path.of("src", "test", "resources", "eras", "LocalTools.java");

  private static final Path SOURCE = Path.of("examples", "own-tools");
  private static final Path GROUP = Path.of("dev", "holdfast");
  private static final Path PACKAGE = Path.of("src", "main", "java", "com", "example", "tools");
  private static final Pattern LIBRARY =
      Pattern.compile("holdfast-(\\d[\\w.]*(?:-SNAPSHOT)?)\\.jar");
  private static final Duration TIMEOUT = Duration.ofMinutes(3);

  private OwnToolsExample() {}

  /**
   * Builds a copy of the example, without the network.
   *
   * @param directory an empty directory outside this project
   * @param more further classes of its package
   * @return the program
   * @throws IllegalStateException if the build fails
   */
  public static Path build(Path directory, Path... more) {
    try {
      Path project = prepare(directory);
      for (Path source : more) {
        Path _ = copy(source, project.resolve(PACKAGE).resolve(source.getFileName()));
      }
      ProcessBuilder maven = maven(project, "-o", "-q", "package");
      maven.command().addAll(List.of(properties(directory)));
      ProcessResult built =
          ProcessRun.toEnd(project, maven.environment(), TIMEOUT, maven.command());
      if (built.exitCode() != 0) {
        throw new IllegalStateException("The example was not built: " + built);
      }
      unlink(directory);
      return project.resolve("target/quarkus-app/quarkus-run.jar");
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Copies the example and adds a repository with the library. Returns the copy. */
  public static Path prepare(Path directory) throws IOException {
    addLibrary(directory.resolve("repository"));
    return copy(SOURCE, directory.resolve("own-tools"));
  }

  /** Returns what tells Maven of the repository and the library in {@code directory}. */
  public static String[] properties(Path directory) throws IOException {
    return new String[] {
      "-Dmaven.repo.local=" + directory.resolve("repository"), "-Dversion.holdfast=" + version()
    };
  }

  /** Returns Maven for a project, on the JDK and with the Maven of this build. */
  public static ProcessBuilder maven(Path project, String... arguments) {
    List<String> command = new ArrayList<>(List.of(System.getProperty("holdfast.maven", "mvn")));
    command.add("-B");
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command).directory(project.toFile());
    builder
        .environment()
        .putAll(
            Map.of(
                "JAVA_HOME", System.getProperty("java.home"),
                "MAVEN_OPTS", String.join(" ", PackagedProgram.shortLived())));
    return builder;
  }

  /** Copies a file or a directory, with the times of files, and without what was built. */
  public static Path copy(Path source, Path target) throws IOException {
    Files.createDirectories(Objects.requireNonNull(target.getParent()));
    try (Stream<Path> files = Files.walk(source)) {
      for (Path file : files.filter(file -> !file.startsWith(source.resolve("target"))).toList()) {
        Files.copy(
            file,
            target.resolve(source.relativize(file).toString()),
            StandardCopyOption.COPY_ATTRIBUTES);
      }
    }
    return target;
  }

  /**
   * Makes a repository of links to all that this build has, with the library of this build added,
   * as {@code mvn install} adds it.
   */
  private static void addLibrary(Path repository) throws IOException {
    Path existing =
        Path.of(
            System.getProperty(
                "holdfast.repository", System.getProperty("user.home") + "/.m2/repository"));
    linkAll(existing, repository, GROUP.getName(0));
    linkAll(
        existing.resolve(GROUP.getName(0)), repository.resolve(GROUP.getName(0)), GROUP.getName(1));
    Path jar = jar();
    String version = version();
    Path library =
        Files.createDirectories(repository.resolve(GROUP).resolve("holdfast").resolve(version));
    Files.copy(jar, library.resolve(jar.getFileName()));
    Files.copy(Path.of("pom.xml"), library.resolve("holdfast-" + version + ".pom"));
  }

  private static String version() throws IOException {
    Matcher name = LIBRARY.matcher(jar().getFileName().toString());
    return name.matches() ? name.group(1) : "";
  }

  private static void linkAll(Path from, Path to, Path besides) throws IOException {
    Files.createDirectories(to);
    try (Stream<Path> children = Files.exists(from) ? Files.list(from) : Stream.empty()) {
      for (Path child : children.filter(child -> !child.endsWith(besides)).toList()) {
        Files.createSymbolicLink(to.resolve(child.getFileName()), child);
      }
    }
  }

  /** Deletes the links in a directory made here: JUnit warns of links when it deletes one. */
  public static void unlink(Path directory) throws IOException {
    Path repository = directory.resolve("repository");
    for (Path links : List.of(repository, repository.resolve(GROUP.getName(0)))) {
      try (Stream<Path> children = Files.list(links)) {
        for (Path link : children.filter(Files::isSymbolicLink).toList()) {
          Files.delete(link);
        }
      }
    }
  }

  private static Path jar() throws IOException {
    try (Stream<Path> files = Files.list(Path.of("target"))) {
      return files
          .filter(file -> LIBRARY.matcher(file.getFileName().toString()).matches())
          // The target of an earlier version may still hold its jar.
          .max(Comparator.comparingLong(file -> file.toFile().lastModified()))
          .orElseThrow(() -> new IllegalStateException("The build has made no library"));
    }
  }
}
