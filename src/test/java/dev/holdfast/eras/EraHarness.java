package dev.holdfast.eras;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.holdfast.testing.NodeFixture;
import dev.holdfast.testing.ProcessResult;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Tries all features with all clients at one URL. The gateway there is any gateway: the harness
 * knows of it only the URL, the server behind it, and a table of {@link ExpectedOutcomes}.
 */
public final class EraHarness {

  /**
   * The SDK of the old revisions, that of the new one with and without a way back, and HTTP without
   * an SDK.
   */
  static final List<String> CLIENTS = List.of("old", "auto", "new", "raw");

  private static final String SCRIPT = "era/client.mjs";
  private static final Duration TIMEOUT = Duration.ofMinutes(5);
  private static final ObjectMapper JSON = new ObjectMapper();

  private EraHarness() {}

  /**
   * Compares any gateway with a table, and prints what works and what differs.
   *
   * @param args the URL of the gateway, the server behind it as the table calls it, and the file of
   *     the table
   */
  public static void main(String[] args) {
    List<Finding> findings = find(args[1], URI.create(args[0]));
    System.out.println(table(findings));
    List<String> differences = ExpectedOutcomes.read(Path.of(args[2])).differences(findings);
    differences.forEach(System.out::println);
    System.exit(differences.isEmpty() ? 0 : 1);
  }

  /**
   * Tries all features with all clients.
   *
   * @param server the server behind the gateway
   * @param gateway URL that clients get
   */
  static List<Finding> find(String server, URI gateway) {
    return CLIENTS.stream()
        .flatMap(client -> find(client, server, "--url", gateway.toString()).stream())
        .toList();
  }

  /** Tries all features with the SDKs, which start a program and talk to it over stdio. */
  static List<Finding> findOverStdio(String server, List<String> program) {
    String words = JSON.valueToTree(program).toString();
    return CLIENTS.stream()
        .filter(client -> !client.equals("raw"))
        .flatMap(client -> find(client, server, "--command", words).stream())
        .toList();
  }

  private static List<Finding> find(String client, String server, String option, String value) {
    ProcessResult result =
        NodeFixture.run(TIMEOUT, SCRIPT, "--client", client, option, value, "all");
    List<Finding> findings =
        result.stdout().lines().map(line -> finding(client, server, line)).toList();
    if (findings.isEmpty()) {
      throw new IllegalStateException("The client found nothing: " + result);
    }
    return findings;
  }

  private static Finding finding(String client, String server, String line) {
    try {
      JsonNode found = JSON.readTree(line);
      return new Finding(
          client,
          server,
          found.path("feature").asText(),
          found.path("outcome").asText(),
          found.path("detail").asText());
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("Not a finding: " + line, e);
    }
  }

  /** Writes a table of outcomes, a row for each server and feature and a column for each client. */
  static void write(Path file, List<Finding> findings) {
    try {
      Path _ = Files.createDirectories(file.toAbsolutePath().getParent());
      Path _ = Files.writeString(file, table(findings));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String table(List<Finding> findings) {
    Map<String, Map<String, String>> rows = new TreeMap<>();
    for (Finding found : findings) {
      String row = found.server() + " | " + found.feature();
      rows.computeIfAbsent(row, _ -> new HashMap<>()).put(found.client(), found.cell());
    }
    String head = "| server | feature | " + String.join(" | ", CLIENTS) + " |";
    String line = "| --- | --- |" + " --- |".repeat(CLIENTS.size());
    Stream<String> body = rows.entrySet().stream().map(row -> line(row.getKey(), row.getValue()));
    return Stream.concat(Stream.of(head, line), body).collect(Collectors.joining("\n", "", "\n"));
  }

  private static String line(String row, Map<String, String> cells) {
    return CLIENTS.stream()
        .map(client -> cells.getOrDefault(client, ""))
        .collect(Collectors.joining(" | ", "| " + row + " | ", " |"));
  }
}
