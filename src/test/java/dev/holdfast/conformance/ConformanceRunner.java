package dev.holdfast.conformance;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.holdfast.testing.NodeFixture;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Runs the official conformance suite of MCP against a server or a client.
 *
 * <p>The suite writes one directory per scenario, {@code server-<scenario>-<time>} or, of a client,
 * {@code <scenario>-<time>}, with a {@code checks.json} in it: an array of checks, each with a
 * {@code status}. {@code SUCCESS} and {@code FAILURE} judge a MUST; {@code WARNING} a SHOULD that
 * is not followed; {@code INFO} is a record of what was sent, and {@code SKIPPED} does not apply.
 * The suite itself fails only if a scored scenario has a {@code FAILURE}. A scenario that broke off
 * leaves a directory without that file.
 */
public final class ConformanceRunner {
  /** The newest revision with sessions and resumable streams. */
  public static final String REVISION = "2025-11-25";

  /** The first revision without sessions. */
  public static final String STATELESS_REVISION = "2026-07-28";

  private static final String SUITE = "node_modules/@modelcontextprotocol/conformance";
  private static final Duration TIMEOUT = Duration.ofMinutes(3);
  private static final Pattern RESULT =
      Pattern.compile("(?:server-)?(.+)-\\d{4}-\\d{2}-\\d{2}T[\\d-]+Z");
  private static final ObjectMapper JSON = new ObjectMapper();

  private ConformanceRunner() {}

  /**
   * Runs all scenarios of a server that {@link #REVISION} requires, and those that come with them
   * unscored.
   *
   * @param server the MCP endpoint; its host must be local, or the check of DNS rebinding fails
   * @param name names the directory below {@code target/conformance} that keeps the results
   * @throws IllegalStateException if the suite cannot be run, or does not end
   */
  public static ConformanceReport run(URI server, String name) {
    return run(REVISION, server, name);
  }

  /** Runs all scenarios of a server for a revision, as {@link #run(URI, String)} does. */
  public static ConformanceReport run(String revision, URI server, String name) {
    Path results = directory(name);
    String output =
        suite(results, "server", "--url", server.toString(), "--requirements", revision);
    return report(revision, "server", results, output);
  }

  /**
   * Runs the scenarios of a client that {@link #STATELESS_REVISION} requires, without those of
   * authorization.
   *
   * @param command the command line of the client, words without blanks; the suite adds the URL of
   *     a server
   * @param name as for {@link #run(URI, String)}
   * @throws IllegalStateException if the suite cannot be run, or does not end
   */
  public static ConformanceReport runClient(String command, String name) {
    Path results = directory(name);
    String[] client = {"client", "--spec-version", STATELESS_REVISION, "--command", command};
    String output =
        required(STATELESS_REVISION, "client").stream()
            .map(scenario -> suite(results, with(client, "--scenario", scenario)))
            .collect(Collectors.joining("\n"));
    return report(STATELESS_REVISION, "client", results, output);
  }

  /** Writes a row of a table in docs/clients.md to {@code target/conformance/<name>.md}. */
  static void write(String name, String row) {
    try {
      Path rows = Files.createDirectories(Path.of("target", "conformance"));
      Files.writeString(rows.resolve(name + ".md"), row + "\n");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String suite(Path results, String... words) {
    String[] all = with(words, "--output-dir", results.toString());
    return NodeFixture.run(TIMEOUT, SUITE + "/dist/index.js", all).toString();
  }

  private static String[] with(String[] words, String... more) {
    return Stream.concat(Stream.of(words), Stream.of(more)).toArray(String[]::new);
  }

  private static Path directory(String name) {
    try {
      Path parent = Files.createDirectories(Path.of("target", "conformance").toAbsolutePath());
      return Files.createTempDirectory(parent, name + "-");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static ConformanceReport report(
      String revision, String leg, Path results, String output) {
    try {
      return new ConformanceReport(revision, read(results, required(revision, leg)), output);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<ScenarioResult> read(Path results, List<String> required) throws IOException {
    Map<String, Path> directories = new TreeMap<>();
    try (Stream<Path> entries = Files.list(results)) {
      for (Path directory : entries.toList()) {
        Matcher matcher = RESULT.matcher(directory.getFileName().toString());
        if (matcher.matches()) {
          directories.put(matcher.group(1), directory);
        }
      }
    }
    List<ScenarioResult> scenarios = new ArrayList<>();
    for (String name : required) {
      Path directory = directories.remove(name);
      scenarios.add(directory == null ? unfinished(name, true) : read(name, true, directory));
    }
    for (Map.Entry<String, Path> unscored : directories.entrySet()) {
      scenarios.add(read(unscored.getKey(), false, unscored.getValue()));
    }
    return scenarios;
  }

  private static ScenarioResult read(String name, boolean scored, Path directory)
      throws IOException {
    Path file = directory.resolve("checks.json");
    if (!Files.exists(file)) {
      return unfinished(name, scored);
    }
    int passed = 0;
    int failed = 0;
    int warnings = 0;
    List<String> problems = new ArrayList<>();
    for (JsonNode check : JSON.readTree(file.toFile())) {
      switch (check.path("status").asText()) {
        case "SUCCESS" -> passed++;
        case "FAILURE" -> {
          failed++;
          problems.add(describe(check));
        }
        case "WARNING" -> {
          warnings++;
          problems.add(describe(check));
        }
        default -> {}
      }
    }
    return new ScenarioResult(name, scored, passed, failed, warnings, problems);
  }

  private static String describe(JsonNode check) {
    return "%s %s: %s (%s)"
        .formatted(
            check.path("status").asText(),
            check.path("id").asText(),
            check.path("description").asText(),
            check.path("errorMessage").asText("no message"));
  }

  private static ScenarioResult unfinished(String name, boolean scored) {
    return new ScenarioResult(name, scored, 0, 1, 0, List.of("It left no result"));
  }

  /** The scenarios that count, of the suite's own file: all but those of authorization. */
  private static List<String> required(String revision, String leg) {
    String file = SUITE + "/requirements/" + revision + ".yaml";
    List<String> names =
        NodeFixture.text(file)
            .lines()
            .dropWhile(line -> !line.equals(leg + ":"))
            .skip(1)
            .takeWhile(line -> line.startsWith("  - "))
            .map(line -> line.substring(4).strip())
            .filter(name -> !name.startsWith("auth/"))
            .toList();
    if (names.isEmpty()) {
      throw new IllegalStateException("No scenarios of a " + leg + " in " + file);
    }
    return names;
  }
}
