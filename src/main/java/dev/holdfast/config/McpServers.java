package dev.holdfast.config;

import io.smallrye.config.NameIterator;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

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

  /** Members of which a server needs one. */
  private static final List<String> ADDRESSES = List.of("url", "serverUrl", "command");

  private static final List<String> KNOWN =
      List.of("command", "args", "env", "url", "headers", "type", "cwd", "disabled");

  /**
   * Reads the keys of a file.
   *
   * @param document the file as maps and lists
   * @param flat the same as flat keys, which leave out what is empty
   * @throws InvalidFileException if there is neither a key of the program nor a server, or a server
   *     has an unknown type, or neither a URL nor a command
   */
  static McpServers read(Path path, @Nullable Object document, Map<String, String> flat) {
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
    checkServers(path, document);
    return new McpServers(properties, warnings.stream().distinct().toList());
  }

  private static void checkServers(Path path, @Nullable Object document) {
    if (document instanceof Map<?, ?> root && root.get(ROOT) instanceof Map<?, ?> servers) {
      servers.forEach((name, server) -> checkServer(path, String.valueOf(name), server));
    }
  }

  private static void checkServer(Path path, String name, @Nullable Object server) {
    Map<?, ?> members = server instanceof Map<?, ?> map ? map : Map.of();
    boolean disabled = Boolean.parseBoolean(String.valueOf(members.get("disabled")));
    if (!disabled && ADDRESSES.stream().allMatch(member -> members.get(member) == null)) {
      String meant =
          members.keySet().stream()
              .map(String::valueOf)
              .filter(member -> !KNOWN.contains(member))
              .flatMap(member -> nearest(member).stream().map(near -> member + " " + near))
              .findFirst()
              .map(words -> words.replaceFirst("(.*) (.*)", ": is $1 meant to be $2?"))
              .orElse(": add one, or remove the server");
      throw new InvalidFileException(
          "%s: the server %s has neither url nor command%s".formatted(path, name, meant));
    }
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
    return nearest(member).map(known -> line + ": is it " + known + "?").orElse(line);
  }

  private static Optional<String> nearest(String member) {
    return KNOWN.stream()
        .min(Comparator.comparingInt(known -> ConfigKeys.distance(member, known)))
        .filter(known -> ConfigKeys.distance(member, known) <= 2);
  }

  private static String quoted(String name) {
    return name.matches("[\\w-]+") ? name : "\"" + name + "\"";
  }
}
