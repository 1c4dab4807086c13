package dev.holdfast.cli;

import java.net.URI;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.ParseResult;

/** What options mean as configuration. An empty value takes back what another source says. */
public final class Settings {

  private static final int MAX_PORT = 65_535;
  private static final String URL = "holdfast.upstream.url";
  private static final String COMMAND = "holdfast.upstream.command";
  private static final String TRANSPORT = "holdfast.upstream.transport";
  private static final List<String> TRANSPORTS = List.of("auto", "streamable-http", "sse", "stdio");
  private static final String STORE = "holdfast.store";

  private Settings() {}

  /**
   * Reads the options.
   *
   * @throws picocli.CommandLine.ParameterException if a value is none
   */
  static Map<String, String> of(ParseResult asked) {
    Map<String, String> settings = new LinkedHashMap<>();
    server(asked, settings);
    store(asked, settings);
    String upstream = asked.matchedOptionValue(Syntax.UPSTREAM, "");
    if (!upstream.isEmpty()) {
      settings.putAll(isUrl(upstream) ? url(asked, Syntax.UPSTREAM, upstream) : command(upstream));
    }
    String url = asked.matchedOptionValue(Syntax.URL, "");
    if (!url.isEmpty()) {
      settings.putAll(url(asked, Syntax.URL, url));
    }
    if (asked.commandSpec().name().equals(Syntax.STDIO)) {
      settings.putAll(program(asked, !url.isEmpty()));
    }
    if (settings.containsKey(URL)) {
      // Another server than that of any other source, which may be of the other kind.
      settings.putIfAbsent(TRANSPORT, "auto");
    }
    return Map.copyOf(settings);
  }

  private static void server(ParseResult asked, Map<String, String> settings) {
    String host = asked.matchedOptionValue(Syntax.HOST, "");
    if (!host.isEmpty()) {
      settings.put("quarkus.http.host", host);
    }
    if (asked.hasMatchedOption(Syntax.PORT)) {
      int port = asked.matchedOptionValue(Syntax.PORT, 0);
      if (port < 0 || port > MAX_PORT) {
        throw wrong(asked, Syntax.PORT, Integer.toString(port), "must be 0 to " + MAX_PORT);
      }
      settings.put("quarkus.http.port", Integer.toString(port));
    }
    String transport = asked.matchedOptionValue(Syntax.TRANSPORT, "");
    if (TRANSPORTS.contains(transport)) {
      settings.put(TRANSPORT, transport);
    } else if (asked.hasMatchedOption(Syntax.TRANSPORT)) {
      throw wrong(asked, Syntax.TRANSPORT, transport, "must be one of " + TRANSPORTS);
    }
  }

  private static void store(ParseResult asked, Map<String, String> settings) {
    String store = asked.matchedOptionValue(Syntax.STORE, "");
    if (store.startsWith("redis://") || store.startsWith("rediss://")) {
      settings.put(STORE, "redis");
      settings.put("quarkus.redis.hosts", store);
    } else if (store.equals("memory") || store.equals("redis")) {
      settings.put(STORE, store);
    } else if (asked.hasMatchedOption(Syntax.STORE)) {
      throw wrong(asked, Syntax.STORE, store, "must be memory, redis or a redis:// URL");
    }
  }

  private static Map<String, String> program(ParseResult asked, boolean url) {
    List<String> words = asked.matchedPositionalValue(0, List.of());
    if (words.isEmpty()) {
      return Map.of();
    }
    if (url) {
      throw CommandLineReader.wrong(asked, "--url and a COMMAND exclude each other");
    }
    return command(words.stream().map(Settings::quoted).collect(Collectors.joining(" ")));
  }

  private static Map<String, String> url(ParseResult asked, String option, String text) {
    if (!isUrl(text)) {
      throw wrong(asked, option, text, "must begin with http:// or https://");
    }
    try {
      return Map.of(URL, URI.create(text).toString(), COMMAND, "");
    } catch (IllegalArgumentException malformed) {
      throw wrong(asked, option, text, "must be a URL");
    }
  }

  private static Map<String, String> command(String line) {
    return Map.of(COMMAND, line, URL, "");
  }

  /** As one word of a line that is split as a shell does. */
  private static String quoted(String word) {
    return "'" + word.replace("'", "'\\''") + "'";
  }

  private static boolean isUrl(String text) {
    return Stream.of("http://", "https://").anyMatch(text::startsWith);
  }

  private static RuntimeException wrong(
      ParseResult asked, String option, String value, String bound) {
    return CommandLineReader.wrong(asked, option + " " + bound + ", not " + value);
  }
}
