package dev.holdfast.testing;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** A browser without a window, with one page, until it is closed. */
public final class Chromium implements AutoCloseable {

  private static final List<String> NAMES =
      List.of("chromium", "chromium-browser", "google-chrome", "google-chrome-stable");

  /** Where macOS keeps it, which is not on the PATH. */
  private static final Path APPLICATION =
      Path.of("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome");

  private final Process process;
  private final Path profile;

  private Chromium(Process process, Path profile) {
    this.process = process;
    this.profile = profile;
  }

  /**
   * Opens a page.
   *
   * @param options further ones of its command line
   * @throws IllegalStateException when no browser is installed
   */
  public static Chromium open(URI page, String... options) {
    try {
      Path profile = Files.createTempDirectory("holdfast-chromium");
      List<String> command =
          new ArrayList<>(
              List.of(
                  program(),
                  "--headless",
                  "--no-sandbox",
                  "--disable-gpu",
                  "--disable-quic",
                  "--disable-dev-shm-usage",
                  "--no-first-run",
                  "--disable-background-networking",
                  "--disable-component-update",
                  "--disable-sync",
                  "--user-data-dir=" + profile));
      command.addAll(List.of(options));
      command.add("--remote-debugging-port=0"); // Else it would end as soon as the page is there.
      command.add(page.toString());
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(profile.resolve("output.txt").toFile())
              .start();
      return new Chromium(process, profile);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String program() {
    List<String> directories = List.of(System.getenv("PATH").split(File.pathSeparator, -1));
    Stream<Path> onPath =
        NAMES.stream()
            .flatMap(name -> directories.stream().map(directory -> Path.of(directory, name)));
    return Stream.concat(onPath, Stream.of(APPLICATION))
        .filter(Files::isExecutable)
        .findFirst()
        .map(Path::toString)
        .orElseThrow(() ->
            new IllegalStateException(
                "This test needs Chromium or Google Chrome; src/test/setup.sh installs it"));
  }

  /** Connects to the page. */
  public BrowserPage page() {
    return new BrowserPage(profile.resolve("DevToolsActivePort"));
  }

  /** What the browser has said so far, for the messages of failing tests. */
  public String output() {
    try {
      return Files.readString(profile.resolve("output.txt"));
    } catch (IOException e) {
      return e.toString();
    }
  }

  /** Ends it, with all that it started, and removes what it has kept. */
  @Override
  public void close() {
    ProcessRun.kill(process);
    try (Stream<Path> files = Files.walk(profile)) {
      files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
    } catch (IOException | UncheckedIOException stillWritten) {
      // A process of it has not quite gone; it is in the directory for such things.
      return;
    }
  }
}
