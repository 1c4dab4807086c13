package dev.holdfast.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** What {@code docs/metrics.md} promises, and what a scrape has. Both: types by name. */
public final class DocumentedMetrics {

  private static final String TOTAL = "_total";
  private static final Path DOCUMENT = Path.of("docs", "metrics.md");
  private static final Pattern ROW =
      Pattern.compile(
          "(?m)^\\| `(holdfast_\\w+)` \\| (counter|gauge|timer|histogram|summary) \\| .+ \\|$");
  private static final Pattern TYPE =
      Pattern.compile("(?m)^# TYPE (holdfast_\\w+) (counter|gauge|histogram|summary)$");

  /** A table of the document. */
  public enum Part {
    /** There whatever the store is. */
    ANY_STORE,
    /** There with Redis only. */
    REDIS,
    /** There with certificates only. */
    TLS
  }

  private DocumentedMetrics() {}

  /** The rows of a table. */
  public static Map<String, String> of(Part part) throws IOException {
    String text = Files.readString(DOCUMENT);
    int redis = text.indexOf("## With Redis");
    int tls = text.indexOf("## With TLS");
    return rows(
        ROW,
        switch (part) {
          case ANY_STORE -> text.substring(0, redis);
          case REDIS -> text.substring(redis, tls);
          case TLS -> text.substring(tls);
        });
  }

  /** The metrics of ours in a scrape, without the maxima that come with timers and summaries. */
  public static Map<String, String> scraped(String scrape) {
    Map<String, String> types = rows(TYPE, scrape);
    types.keySet().removeIf(name -> name.endsWith("_max"));
    Map<String, String> full = new TreeMap<>();
    types.forEach((name, type) -> {
      // OpenMetrics leaves the ending to the samples; the older format does not.
      boolean bare = type.equals("counter") && !name.endsWith(TOTAL);
      full.put(bare ? name + TOTAL : name, type);
    });
    return full;
  }

  /** For Prometheus, a timer is a summary of seconds. */
  private static Map<String, String> rows(Pattern pattern, String text) {
    Map<String, String> rows = new TreeMap<>();
    pattern
        .matcher(text)
        .results()
        .forEach(row -> rows.put(row.group(1), row.group(2).replace("timer", "summary")));
    return rows;
  }
}
