package dev.holdfast.clients;

import dev.holdfast.lock.LruMap;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The table of known clients. The first row that matches counts: rows of the configuration come
 * before those built in. {@code docs/clients.md} shows the table.
 */
public final class KnownClients {

  private static final String JDK = "Java-http-client/*";
  private static final String ISSUE =
      "https://github.com/modelcontextprotocol/java-sdk/issues/1047";

  private static final Duration T20 = Duration.ofSeconds(20);
  private static final Duration T60 = Duration.ofSeconds(60);

  /** The table without a configuration. */
  public static final List<KnownClient> BUILT_IN =
      List.of(
          // All versions of the Java SDK give the same version in clientInfo.
          new KnownClient("java-sdk", JDK, "Java SDK MCP Client/*", false, true, 0, T20, ISSUE),
          new KnownClient("spring-ai", JDK, "spring-ai-mcp-client*", false, true, 0, T20, ISSUE),
          new KnownClient(
              "langchain4j", JDK, "langchain4j/*", true, true, 0, T60, "measured: 1.18.1"),
          // A program on the Java SDK may give any clientInfo, and /sse begins without one.
          new KnownClient("java-http-client", JDK, null, false, true, null, null, ISSUE),
          new KnownClient("ai-sdk", "*ai-sdk/*", null, true, false, 0, null, "measured: 2.0.99"),
          // It resumes one stream at a time: the next one cancels it.
          new KnownClient(
              "kotlin-sdk", "ktor-client", null, true, true, 2, T60, "measured: 0.16.0"));

  /** The most clients whose row is remembered: matching takes longer. */
  private static final int MOST_FOUND = 1000;

  private final List<Row> rows;
  private final Map<Description, KnownClient> found = LruMap.create(MOST_FOUND);

  private record Description(String userAgent, String clientInfo) {}

  private record Row(KnownClient client, Pattern userAgent, Pattern clientInfo) {

    Row(KnownClient client) {
      this(client, pattern(client.userAgent()), pattern(client.clientInfo()));
    }

    boolean matches(Description sent) {
      return userAgent.matcher(sent.userAgent()).matches()
          && clientInfo.matcher(sent.clientInfo()).matches();
    }
  }

  /**
   * Creates the table.
   *
   * @param configured further rows by name, which replace those built in that have the same name
   */
  public KnownClients(Map<String, ? extends KnownClient.Settings> configured) {
    Stream<KnownClient> own =
        configured.entrySet().stream()
            .sorted(Map.Entry.comparingByKey())
            .map(each -> KnownClient.of(each.getKey(), each.getValue()));
    Stream<KnownClient> others =
        BUILT_IN.stream().filter(client -> !configured.containsKey(client.name()));
    rows = Stream.concat(own, others).map(Row::new).toList();
  }

  /**
   * The row of a client; {@link KnownClient#UNKNOWN} when none matches.
   *
   * @param userAgent its {@code User-Agent}; empty when unknown
   * @param clientInfo its name and version; empty before it initializes
   */
  public KnownClient find(String userAgent, String clientInfo) {
    return found.computeIfAbsent(
        new Description(userAgent, clientInfo),
        client ->
            rows.stream()
                .filter(row -> row.matches(client))
                .map(Row::client)
                .findFirst()
                .orElse(KnownClient.UNKNOWN));
  }

  /** All rows in the order in which they are tried. */
  public List<KnownClient> all() {
    return rows.stream().map(Row::client).toList();
  }

  private static Pattern pattern(@Nullable String stars) {
    return Pattern.compile(
        stars == null
            ? ".*"
            : Arrays.stream(stars.split("\\*", -1))
                .map(Pattern::quote)
                .collect(Collectors.joining(".*")),
        Pattern.DOTALL);
  }
}
