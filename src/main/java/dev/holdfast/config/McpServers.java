package dev.holdfast.config;

import io.smallrye.config.NameIterator;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Turns the {@code mcpServers} of MCP clients into keys of upstreams. Other keys stay as they are.
 *
 * @param properties keys of the program
 * @param warnings a line for each member that is ignored
 */
record McpServers(Map<String, String> properties, List<String> warnings) {

  private static final String ROOT = "mcpServers";

  /** Keys of the program for the members of a server that are texts. */
  private static final Map<String, String> MEMBERS =
      Map.of("url", "url", "serverUrl", "url", "cwd", "directory");

  private static final Map<String, String> TRANSPORTS =
      Map.of(
          "stdio", "stdio",
          "sse", "sse",
          "http", "streamable-http",
          "streamable-http", "streamable-http",
          "streamableHttp", "streamable-http");

  private static final List<String> KNOWN =
      List.of("command", "args", "env", "url", "headers", "type", "cwd", "disabled");

  /**
   * Reads the flat keys of a file.
   *
   * @throws InvalidFileException if there is neither a key of the program nor a server, or a server
   *     has an unknown type
   */
  static McpServers read(Path path, Map<String, String> flat) {
    Map<String, String> properties = new HashMap<>();
    Map<String, Map<List<String>, String>> servers = new TreeMap<>();
    List<String> warnings = new ArrayList<>();
    new TreeMap<>(flat)
        .forEach((key, value) -> {
          List<String> segments = segments(key);
          if (segments.getFirst().equals(ROOT) && segments.size() > 2) {
            servers
                .computeIfAbsent(segments.get(1), _ -> new HashMap<>())
                .put(segments.subList(2, segments.size()), value);
          } else if (segments.getFirst().equals("holdfast")
              || segments.getFirst().equals("quarkus")) {
            properties.put(key, value);
          } else {
            warnings.add(
                path + ": " + segments.getFirst() + " is ignored: use holdfast or mcpServers");
          }
        });
    if (properties.isEmpty() && servers.isEmpty()) {
      throw new InvalidFileException(
          path
              + " has nothing below holdfast or mcpServers: add a server, such as {\"mcpServers\":"
              + " {\"time\": {\"command\": \"uvx\", \"args\": [\"mcp-server-time\"]}}}");
    }
    servers.forEach((name, server) -> add(path, name, server, properties, warnings));
    return new McpServers(properties, warnings.stream().distinct().toList());
  }

  private static List<String> segments(String key) {
    List<String> segments = new ArrayList<>();
    NameIterator names = new NameIterator(key);
    while (names.hasNext()) {
      segments.add(names.getNextSegment());
      names.next();
    }
    return segments;
  }

  private static void add(
      Path path,
      String name,
      Map<List<String>, String> server,
      Map<String, String> properties,
      List<String> warnings) {
    if (Boolean.parseBoolean(server.get(List.of("disabled")))) {
      return;
    }
    String prefix = "holdfast.upstreams." + quoted(name) + ".";
    server.forEach((member, value) -> {
      String first = member.getFirst();
      if (member.size() == 2 && first.equals("env")) {
        properties.put(prefix + "environment." + quoted(member.getLast()), value);
      } else if (member.size() == 2 && first.equals("headers")) {
        properties.put(prefix + "headers." + quoted(member.getLast()), value);
      } else if (first.equals("type") || first.equals("transport")) {
        properties.put(prefix + "transport", transport(path, name, value));
      } else if (MEMBERS.containsKey(first)) {
        properties.put(prefix + MEMBERS.get(first), value);
      } else if (first.equals("command")) {
        properties.put(prefix + "command", commandLine(value, server));
      } else if (!KNOWN.contains(first) && !first.startsWith("args[")) {
        warnings.add(unknown(path, name, first));
      }
    });
  }

  private static String transport(Path path, String name, String type) {
    String transport = TRANSPORTS.get(type);
    if (transport == null) {
      throw new InvalidFileException(
          "%s: type of the server %s must be stdio, http or sse".formatted(path, name));
    }
    return transport;
  }

  /** The program and its arguments as a shell has them: a word of the client stays a word. */
  private static String commandLine(String command, Map<List<String>, String> server) {
    StringBuilder line = new StringBuilder(word(command));
    Stream.iterate(0, i -> i + 1)
        .map(i -> server.get(List.of("args[" + i + "]")))
        .takeWhile(Objects::nonNull)
        .forEach(argument -> line.append(' ').append(word(argument)));
    return line.toString();
  }

  private static String word(String text) {
    return text.matches("[\\w@%+=:,./-]+") ? text : "'" + text.replace("'", "'\\''") + "'";
  }

  private static String unknown(Path path, String name, String member) {
    String line = "%s: %s of the server %s is ignored".formatted(path, member, name);
    return KNOWN.stream()
        .min(Comparator.comparingInt(known -> ConfigKeys.distance(member, known)))
        .filter(known -> ConfigKeys.distance(member, known) <= 2)
        .map(known -> line + ": is it " + known + "?")
        .orElse(line);
  }

  private static String quoted(String name) {
    return name.matches("[\\w-]+") ? name : "\"" + name + "\"";
  }
}
