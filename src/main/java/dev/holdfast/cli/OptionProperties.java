package dev.holdfast.cli;

import static dev.holdfast.cli.CommandLineSyntax.usageError;

import java.net.URI;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import picocli.CommandLine.ParseResult;

/** Translates options to configuration. An empty value overrides the value of other sources. */
final class OptionProperties {

  private static final int MAX_PORT = 65_535;
  private static final String URL = "holdfast.upstream.url";
  private static final String COMMAND = "holdfast.upstream.command";
  private static final String TRANSPORT = "holdfast.upstream.transport";
  private static final List<String> TRANSPORTS = List.of("auto", "streamable-http", "sse", "stdio");

  private final ParseResult parsed;
  private final Map<String, String> properties = new LinkedHashMap<>();

  private OptionProperties(ParseResult parsed) {
    this.parsed = parsed;
  }

  /**
   * Returns the properties that the options set.
   *
   * @throws picocli.CommandLine.ParameterException if an option has an invalid value
   */
  static Map<String, String> of(ParseResult parsed) {
    OptionProperties options = new OptionProperties(parsed);
    options.addServer();
    options.addStore();
    options.addUpstream();
    return Map.copyOf(options.properties);
  }

  private void addServer() {
    String host = option(CommandLineSyntax.HOST);
    if (!host.isEmpty()) {
      properties.put("quarkus.http.host", host);
    }
    if (parsed.hasMatchedOption(CommandLineSyntax.PORT)) {
      int port = parsed.matchedOptionValue(CommandLineSyntax.PORT, 0);
      if (port < 0 || port > MAX_PORT) {
        throw usageError(parsed, "--port must be 0 to " + MAX_PORT + ", not " + port);
      }
      properties.put("quarkus.http.port", Integer.toString(port));
    }
  }

  private void addStore() {
    String store = option(CommandLineSyntax.STORE);
    if (store.startsWith("redis://") || store.startsWith("rediss://")) {
      properties.put("holdfast.store", "redis");
      properties.put("quarkus.redis.hosts", store);
    } else if (store.equals("memory") || store.equals("redis")) {
      properties.put("holdfast.store", store);
    } else if (parsed.hasMatchedOption(CommandLineSyntax.STORE)) {
      throw usageError(parsed, "--store must be memory, redis or a redis:// URL, not " + store);
    }
  }

  private void addUpstream() {
    String transport = option(CommandLineSyntax.TRANSPORT);
    if (TRANSPORTS.contains(transport)) {
      properties.put(TRANSPORT, transport);
    } else if (parsed.hasMatchedOption(CommandLineSyntax.TRANSPORT)) {
      throw usageError(parsed, "--transport must be one of " + TRANSPORTS + ", not " + transport);
    }
    String upstream = option(CommandLineSyntax.UPSTREAM);
    if (isUrl(upstream)) {
      putUrl(CommandLineSyntax.UPSTREAM, upstream);
    } else if (!upstream.isEmpty()) {
      putServer("", upstream);
    }
    if (parsed.commandSpec().name().equals(CommandLineSyntax.STDIO)) {
      addServerOfStdio();
    }
  }

  private void addServerOfStdio() {
    String url = option(CommandLineSyntax.URL);
    List<String> program = parsed.matchedPositionalValue(0, List.of());
    if (!url.isEmpty() && !program.isEmpty()) {
      throw usageError(parsed, "--url and COMMAND exclude each other");
    }
    if (!url.isEmpty()) {
      putUrl(CommandLineSyntax.URL, url);
    } else if (!program.isEmpty()) {
      putServer(
          "", program.stream().map(OptionProperties::quoted).collect(Collectors.joining(" ")));
    }
  }

  private void putUrl(String option, String url) {
    if (!isUrl(url)) {
      throw usageError(parsed, option + " must begin with http:// or https://, not " + url);
    }
    try {
      putServer(URI.create(url).toString(), "");
    } catch (IllegalArgumentException malformed) {
      throw usageError(parsed, option + " must be a URL, not " + url);
    }
  }

  /** Overrides other sources, which may configure a server of the other kind. */
  private void putServer(String url, String command) {
    properties.put(URL, url);
    properties.put(COMMAND, command);
    properties.putIfAbsent(TRANSPORT, "auto");
  }

  private String option(String name) {
    return parsed.matchedOptionValue(name, "");
  }

  /** Quotes an argument for a command line that is split as a shell does. */
  private static String quoted(String argument) {
    return "'" + argument.replace("'", "'\\''") + "'";
  }

  private static boolean isUrl(String text) {
    return text.startsWith("http://") || text.startsWith("https://");
  }
}
