package dev.holdfast.config;

import io.smallrye.config.NameIterator;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Turns the {@code mcpServers} of MCP clients into keys of upstreams. Other keys stay as they are.
 *
 * @param warnings a line for each member that is ignored
 */
record McpServers(Map<String, String> properties, List<String> warnings) {

  private static final String ROOT = "mcpServers";

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
   * Reads the keys of a file.
   *
   * @param document the file as maps and lists
   * @param flat the same as flat keys, which leave out what is empty
   * @throws InvalidFileException if there is neither a key of the program nor a server, or a server
   *     has an unknown type, or neither a URL nor a command
   */
  static McpServers read(Path path, @Nullable Object document, Map<String, String> flat) {
    McpServers read = new McpServers(new HashMap<>(), new ArrayList<>());
    Map<?, ?> servers = members(document).get(ROOT) instanceof Map<?, ?> map ? map : Map.of();
    new TreeMap<>(flat)
        .forEach((key, value) -> {
          String first = new NameIterator(key).getNextSegment();
          if (first.equals("holdfast") || first.equals("quarkus")) {
            read.properties.put(key, value);
          } else if (!first.equals(ROOT) || servers.isEmpty()) {
            read.warn(path + ": " + first + " is ignored: use holdfast or mcpServers");
          }
        });
    boolean empty = servers.values().stream().allMatch(server -> members(server).isEmpty());
    if (read.properties.isEmpty() && empty) {
      throw new InvalidFileException(
          path
              + " has nothing below holdfast or mcpServers: add a server, such as {\"mcpServers\":"
              + " {\"time\": {\"command\": \"uvx\", \"args\": [\"mcp-server-time\"]}}}");
    }
    servers.forEach((name, server) -> read.add(path, String.valueOf(name), members(server)));
    return read;
  }

  private void warn(String line) {
    if (!warnings.contains(line)) {
      warnings.add(line);
    }
  }

  /** The members of an object that are not empty; none for another value. */
  private static Map<String, Object> members(@Nullable Object value) {
    Map<String, Object> members = new TreeMap<>();
    if (value instanceof Map<?, ?> object) {
      object.forEach((name, member) -> {
        if (member != null && !isEmpty(member)) {
          members.put(String.valueOf(name), member);
        }
      });
    }
    return members;
  }

  private static boolean isEmpty(Object value) {
    return (value instanceof Collection<?> list && list.isEmpty())
        || (value instanceof Map<?, ?> object && object.isEmpty());
  }

  private void add(Path path, String name, Map<String, Object> server) {
    if (Boolean.parseBoolean(String.valueOf(server.get("disabled")))) {
      return;
    }
    String prefix = "holdfast.upstreams." + quoted(name) + ".";
    server.forEach((member, value) -> {
      switch (member) {
        case "command" ->
            properties.put(prefix + "command", commandLine(value, server.get("args")));
        case "url", "serverUrl" -> properties.put(prefix + "url", value.toString());
        case "cwd" -> properties.put(prefix + "directory", value.toString());
        case "type", "transport" ->
            properties.put(prefix + "transport", transport(path, name, value.toString()));
        case "env" -> putAll(prefix + "environment.", value);
        case "headers" -> putAll(prefix + "headers.", value);
        case "args", "disabled" -> {}
        default ->
            warn(
                "%s: %s of the server %s is ignored%s"
                    .formatted(
                        path,
                        member,
                        name,
                        nearest(member).map(known -> ": is it " + known + "?").orElse("")));
      }
    });
    if (Stream.of("url", "serverUrl", "command").noneMatch(server::containsKey)) {
      String meant =
          server.keySet().stream()
              .filter(member -> !KNOWN.contains(member))
              .flatMap(member ->
                  nearest(member).stream()
                      .map(near -> ": is " + member + " meant to be " + near + "?"))
              .findFirst()
              .orElse(": add one, or remove the server");
      throw new InvalidFileException(
          "%s: the server %s has neither url nor command%s".formatted(path, name, meant));
    }
  }

  private void putAll(String prefix, Object values) {
    members(values)
        .forEach((name, value) -> properties.put(prefix + quoted(name), value.toString()));
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
  private static String commandLine(Object command, @Nullable Object arguments) {
    Stream<?> words = arguments instanceof Collection<?> list ? list.stream() : Stream.empty();
    return Stream.concat(Stream.of(command), words)
        .map(word -> word(String.valueOf(word)))
        .collect(Collectors.joining(" "));
  }

  private static String word(String text) {
    return text.matches("[\\w@%+=:,./-]+") ? text : "'" + text.replace("'", "'\\''") + "'";
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
