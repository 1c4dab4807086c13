package dev.holdfast.bench;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Writes figures as a Markdown table. */
final class Report {

  private static final String NONE = "–";

  private final BenchmarkResults figures;

  Report(BenchmarkResults figures) {
    this.figures = figures;
  }

  /** A row per figure, a column per contender: the median, and how it compares with nginx. */
  String table() {
    Set<Contender> contenders = new TreeSet<>();
    figures.metrics().forEach(metric -> contenders.addAll(figures.contenders(metric)));
    List<List<String>> rows = new ArrayList<>();
    rows.add(Stream.concat(Stream.of(""), contenders.stream().map(Contender::title)).toList());
    rows.add(Collections.nCopies(contenders.size() + 1, "---"));
    for (Metric metric : figures.metrics()) {
      Stream<String> cells = contenders.stream().map(contender -> cell(metric, contender));
      rows.add(Stream.concat(Stream.of(metric.title()), cells).toList());
    }
    return rows.stream()
        .map(cells -> "| " + String.join(" | ", cells) + " |")
        .collect(Collectors.joining("\n", "", "\n"));
  }

  private String cell(Metric metric, Contender contender) {
    if (figures.rounds(metric, contender).isEmpty()) {
      return NONE;
    }
    Metric.Unit unit = metric.unit();
    double median = figures.median(metric, contender).orElseThrow();
    return unit.number(median) + unit.suffix() + ratio(metric, contender);
  }

  private String ratio(Metric metric, Contender contender) {
    if (contender == Contender.NGINX || figures.rounds(metric, Contender.NGINX).isEmpty()) {
      return "";
    }
    double ratio = figures.ratio(metric, contender, Contender.NGINX).orElseThrow();
    return String.format(Locale.ROOT, " (%.2f ×)", ratio);
  }
}
