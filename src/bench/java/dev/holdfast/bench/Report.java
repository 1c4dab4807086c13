package dev.holdfast.bench;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Writes figures as Markdown: a table for a README, and one with everything. */
final class Report {

  private static final String NONE = "–";

  /** What others are compared with: the first of these that was measured. */
  private static final List<Contender> REFERENCES =
      List.of(Contender.NGINX, Contender.DIRECT, Contender.MEMORY);

  private static final List<Column> COLUMNS =
      List.of(
          new Column("calls/s (16 sessions)", Metric.CALLS),
          new Column("live latency p50 / p99 at 5,000 events/s", Metric.LIVE_P50, Metric.LIVE_P99),
          new Column("burst events/s", Metric.BURST),
          new Column("replay of 100 / 1,000 events", Metric.REPLAY_100, Metric.REPLAY_1000),
          new Column(
              "memory per idle stream, local / HTTP upstream",
              Metric.IDLE_LOCAL,
              Metric.IDLE_HTTP));

  private final BenchmarkResults figures;

  Report(BenchmarkResults figures) {
    this.figures = figures;
  }

  private record Column(String title, List<Metric> metrics) {
    Column(String title, Metric... metrics) {
      this(title, List.of(metrics));
    }
  }

  /** One row per contender: the medians of what matters most. */
  String summary() {
    List<Column> columns =
        COLUMNS.stream()
            .filter(column -> column.metrics.stream().anyMatch(this::isMeasured))
            .toList();
    List<List<String>> rows = new ArrayList<>();
    for (Contender contender : Contender.values()) {
      List<String> cells = columns.stream().map(column -> cell(column, contender)).toList();
      if (cells.stream().anyMatch(cell -> !cell.equals(NONE))) {
        rows.add(Stream.concat(Stream.of(contender.title()), cells.stream()).toList());
      }
    }
    return table(Stream.concat(Stream.of(""), columns.stream().map(Column::title)).toList(), rows);
  }

  /** One row per figure and contender: median, range, and how that compares. */
  String details() {
    List<List<String>> rows = new ArrayList<>();
    for (Metric metric : Metric.values()) {
      for (Contender contender : figures.contenders(metric)) {
        rows.add(row(metric, contender));
      }
    }
    return table(List.of("figure", "", "median", "range", "compared with"), rows);
  }

  private List<String> row(Metric metric, Contender contender) {
    Metric.Unit unit = metric.unit();
    List<Double> rounds = figures.rounds(metric, contender);
    return List.of(
        metric.title(),
        contender.title(),
        unit.number(figures.median(metric, contender).orElseThrow()) + unit.suffix(),
        unit.number(Collections.min(rounds)) + "–" + unit.number(Collections.max(rounds)),
        reference(metric)
            .filter(reference -> reference != contender)
            .map(reference -> ratio(metric, contender, reference))
            .orElse(NONE));
  }

  private Optional<Contender> reference(Metric metric) {
    return REFERENCES.stream().filter(figures.contenders(metric)::contains).findFirst();
  }

  private String ratio(Metric metric, Contender contender, Contender reference) {
    double ratio = figures.ratio(metric, contender, reference).orElseThrow();
    return String.format(Locale.ROOT, "%.2f × %s", ratio, reference.title());
  }

  private boolean isMeasured(Metric metric) {
    return !figures.contenders(metric).isEmpty();
  }

  private String cell(Column column, Contender contender) {
    List<String> numbers = new ArrayList<>();
    for (Metric metric : column.metrics) {
      OptionalDouble median = figures.median(metric, contender);
      numbers.add(median.isPresent() ? metric.unit().number(median.getAsDouble()) : NONE);
    }
    if (numbers.stream().allMatch(NONE::equals)) {
      return NONE;
    }
    return String.join(" / ", numbers) + column.metrics.getFirst().unit().suffix();
  }

  private static String table(List<String> head, List<List<String>> rows) {
    List<String> rule = Collections.nCopies(head.size(), "---");
    return Stream.concat(Stream.of(head, rule), rows.stream())
        .map(cells -> "| " + String.join(" | ", cells) + " |")
        .collect(Collectors.joining("\n", "", "\n"));
  }
}
