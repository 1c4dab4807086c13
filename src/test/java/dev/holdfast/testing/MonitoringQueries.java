package dev.holdfast.testing;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The PromQL queries of the dashboards and alert rules that are shipped. */
public final class MonitoringQueries {

  /** The directory of the Grafana dashboards. */
  public static final Path DASHBOARDS = Path.of("deploy/helm/holdfast/files/dashboards");

  /** The alert rules. */
  public static final Path ALERTS = Path.of("deploy/helm/holdfast/files/alerts.yaml");

  /** Each rule has its query on one line. */
  private static final Pattern ALERT =
      Pattern.compile("(?m)^ {6}- alert: (\\w+)\\n(?: {8}#.*\\n)*+ {8}expr: (.+)$");

  private static final Pattern LABEL_VALUES = Pattern.compile("label_values\\((.+), (\\w+)\\)");

  private MonitoringQueries() {}

  /** Finds all queries, by their place. */
  public static Map<String, String> all() throws IOException {
    Map<String, String> all = new LinkedHashMap<>(alerts());
    for (Path file : dashboards()) {
      all.putAll(of(file));
    }
    return all;
  }

  /** The queries of the alert rules, by the name of the alert. */
  public static Map<String, String> alerts() throws IOException {
    Map<String, String> alerts = new LinkedHashMap<>();
    ALERT
        .matcher(Files.readString(ALERTS))
        .results()
        .forEach(rule -> alerts.put(rule.group(1), rule.group(2)));
    return alerts;
  }

  /** The files of the dashboards. */
  public static List<Path> dashboards() throws IOException {
    try (Stream<Path> files = Files.list(DASHBOARDS)) {
      return files.sorted().toList();
    }
  }

  /** The queries of a dashboard's panels and variables, by their place. */
  public static Map<String, String> of(Path dashboard) throws IOException {
    JsonNode root = new ObjectMapper().readTree(dashboard.toFile());
    Map<String, String> queries = new LinkedHashMap<>();
    for (JsonNode panel : root.path("panels")) {
      for (JsonNode target : panel.path("targets")) {
        String place = panel.path("title").asText() + " " + target.path("refId").asText();
        queries.put(dashboard.getFileName() + ": " + place, target.path("expr").asText());
      }
    }
    for (JsonNode variable : root.path("templating").path("list")) {
      LABEL_VALUES
          .matcher(variable.path("definition").asText())
          .results()
          .forEach(values ->
              queries.put(
                  dashboard.getFileName() + ": variable " + variable.path("name").asText(),
                  "sum by (" + values.group(2) + ") (" + values.group(1) + ")"));
    }
    return queries;
  }

  /** Finds the names of all queries that a scrape does not have, by the place of the query. */
  public static Map<String, Set<String>> unknown(String scrape) throws IOException {
    Scrape known = new Scrape(scrape);
    Map<String, Set<String>> unknown = new TreeMap<>();
    all()
        .forEach((place, query) -> {
          Set<String> names = known.unknown(query);
          if (!names.isEmpty()) {
            unknown.put(place, names);
          }
        });
    return unknown;
  }
}
