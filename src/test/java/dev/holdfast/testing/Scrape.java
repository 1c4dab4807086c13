package dev.holdfast.testing;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The metrics of a scrape with their labels. Tells which names of a query it does not have. */
public final class Scrape {

  /** Labels that Prometheus itself adds to every sample. */
  private static final Set<String> TARGET_LABELS = Set.of("job", "instance");

  private static final Set<String> KEYWORDS = Set.of("and", "or", "unless", "bool", "offset");

  private static final Pattern SAMPLE = Pattern.compile("(?m)^(\\w+)(?:\\{(.*)})? [^ ]+$");
  private static final Pattern MATCHER =
      Pattern.compile("([^\\s,{}!=~\"]+)\\s*(=~|!~|!=|=)\\s*\"((?:[^\"\\\\]|\\\\.)*)\"");
  private static final Pattern GROUPING =
      Pattern.compile("\\b(?:by|without|on|ignoring|group_left|group_right)\\s*\\(([^)]*)\\)");
  private static final Pattern RANGE = Pattern.compile("\\[[^\\]]*]");
  private static final Pattern SELECTOR =
      Pattern.compile("(?<![\\w.$])([a-zA-Z_:][\\w:]*)(?!\\w*\\s*\\()\\s*(\\{[^}]*})?");

  /** The values of each label, by the name of the metric and of the label. */
  private final Map<String, Map<String, Set<String>>> metrics = new HashMap<>();

  /** Parses Prometheus' text format. */
  public Scrape(String text) {
    SAMPLE
        .matcher(text)
        .results()
        .forEach(sample -> {
          Map<String, Set<String>> labels =
              metrics.computeIfAbsent(sample.group(1), _ -> new HashMap<>());
          matchers(sample.group(2))
              .forEach(each ->
                  labels.computeIfAbsent(each.group(1), _ -> new HashSet<>()).add(each.group(3)));
        });
  }

  /**
   * Finds the metrics, labels and label values of a PromQL query that this scrape does not have.
   * Values with a variable of Grafana may be anything.
   *
   * @return sorted: {@code metric}, {@code metric{label}}, {@code metric{label="value"}}, or {@code
   *     by(label)} for a label that no metric of the query has, unless another name is unknown
   */
  public Set<String> unknown(String query) {
    Set<String> unknown = new TreeSet<>();
    Set<String> labels = new HashSet<>(TARGET_LABELS);
    String selectors = RANGE.matcher(GROUPING.matcher(query).replaceAll(" ")).replaceAll(" ");
    SELECTOR
        .matcher(selectors)
        .results()
        .filter(each -> !KEYWORDS.contains(each.group(1)))
        .forEach(each -> {
          Map<String, Set<String>> known = metrics.get(each.group(1));
          if (known == null) {
            unknown.add(each.group(1));
          } else {
            labels.addAll(known.keySet());
            matchers(each.group(2)).forEach(label -> check(each.group(1), known, label, unknown));
          }
        });
    if (!unknown.isEmpty()) {
      return unknown;
    }
    GROUPING
        .matcher(query)
        .results()
        .flatMap(each -> Stream.of(each.group(1).split(",", -1)))
        .map(String::strip)
        .filter(label -> !labels.contains(label))
        .forEach(label -> unknown.add("by(" + label + ")"));
    return unknown;
  }

  private static void check(
      String metric, Map<String, Set<String>> known, MatchResult matcher, Set<String> unknown) {
    String label = matcher.group(1);
    Set<String> values = known.get(label);
    if (values == null) {
      if (!TARGET_LABELS.contains(label)) {
        unknown.add(metric + "{" + label + "}");
      }
      return;
    }
    boolean pattern = matcher.group(2).endsWith("~");
    Stream.of(matcher.group(3).split(pattern ? "\\|" : "$^", -1))
        .filter(value -> !value.contains("$") && !values.contains(value))
        .forEach(value -> unknown.add(metric + "{" + label + "=\"" + value + "\"}"));
  }

  private static Stream<MatchResult> matchers(@Nullable String labels) {
    return labels == null ? Stream.empty() : MATCHER.matcher(labels).results();
  }
}
