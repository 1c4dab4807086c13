package dev.holdfast.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Costs that were measured while one thing grew.
 *
 * @param grows what grew
 * @param metrics names and units of the costs
 * @param points one for each size, the smallest first
 */
record Curve(String grows, List<String> metrics, List<Point> points) {

  private static final int WIDTH = 240;
  private static final int HEIGHT = 170;
  private static final int LEFT = 16;
  private static final int TOP = 46;
  private static final int BOTTOM = 40;

  /** Costs at one size, in the order of the metrics. */
  record Point(long size, List<Double> costs) {}

  static Curve of(String grows, String... metrics) {
    return new Curve(grows, List.of(metrics), new ArrayList<>());
  }

  void add(long size, Double... costs) {
    points.add(new Point(size, List.of(costs)));
    System.err.println(grows + " " + size + ": " + List.of(costs));
  }

  /** The table, as Markdown. */
  String table() {
    StringBuilder text = new StringBuilder();
    text.append(row(grows, Point::size, size -> String.format(Locale.ROOT, "%,d", size)));
    text.append("| --- |").append(" --- |".repeat(points.size())).append('\n');
    for (int i = 0; i < metrics.size(); i++) {
      int nth = i;
      text.append(row(metrics.get(nth), point -> point.costs().get(nth), Curve::number));
    }
    return text.toString();
  }

  private <T> String row(String name, Function<Point, T> value, Function<T, String> text) {
    return points.stream()
        .map(value.andThen(text))
        .collect(Collectors.joining(" | ", "| " + name + " | ", " |\n"));
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%,.0f", value);
  }

  /** A drawing with a panel for each metric. Sizes have equal steps, and costs begin at zero. */
  String svg() {
    String panels =
        IntStream.range(0, metrics.size()).mapToObj(this::panel).collect(Collectors.joining());
    return """
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %1$d %2$d" width="%1$d" height="%2$d" \
    font-family="sans-serif" font-size="11" fill="#445">
    <rect width="%1$d" height="%2$d" fill="#fff"/>
    <text x="%3$d" y="16" font-weight="bold">%4$s</text>
    %5$s</svg>
    """
        .formatted(WIDTH * metrics.size(), HEIGHT, LEFT, grows, panels);
  }

  private String panel(int metric) {
    double most = points.stream().mapToDouble(each -> each.costs().get(metric)).max().orElse(1);
    double scale = (HEIGHT - TOP - BOTTOM - 12) / Math.max(most, 1e-9);
    int step = (WIDTH - 3 * LEFT) / Math.max(1, points.size() - 1);
    int floor = HEIGHT - BOTTOM;
    StringBuilder line = new StringBuilder();
    StringBuilder marks = new StringBuilder();
    for (int i = 0; i < points.size(); i++) {
      double cost = points.get(i).costs().get(metric);
      int x = metric * WIDTH + LEFT + 8 + i * step;
      int y = (int) Math.round(floor - cost * scale);
      line.append(x).append(',').append(y).append(' ');
      marks.append(
          """
          <circle cx="%1$d" cy="%2$d" r="3" fill="#1565c0"/>
          <text x="%1$d" y="%3$d" text-anchor="middle">%4$s</text>
          <text x="%1$d" y="%5$d" text-anchor="middle">%6$s</text>
          """
              .formatted(x, y, y - 7, number(cost), floor + 16, brief(points.get(i).size())));
    }
    return """
    <text x="%d" y="%d">%s</text>
    <path d="M%d %dh%d" stroke="#bbc"/>
    <polyline points="%s" fill="none" stroke="#1565c0" stroke-width="2"/>
    %s\
    """
        .formatted(
            metric * WIDTH + LEFT,
            TOP - 12,
            metrics.get(metric),
            metric * WIDTH + LEFT,
            floor,
            WIDTH - 2 * LEFT,
            line.toString().strip(),
            marks);
  }

  private static String brief(long size) {
    return size >= 1_000_000
        ? size / 1_000_000 + "M"
        : size >= 1000 ? size / 1000 + "k" : "" + size;
  }
}
