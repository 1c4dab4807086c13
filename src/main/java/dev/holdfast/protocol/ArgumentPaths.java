package dev.holdfast.protocol;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads which arguments of a tool its calls repeat in headers ({@code x-mcp-header}, 2026-07-28).
 */
public final class ArgumentPaths {

  private static final String KEY = "x-mcp-header";
  private static final Pattern TOKEN = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}");
  private static final Pattern USE = Pattern.compile("(?<!\\\\)\"" + KEY + "\"\\s*:\\s*[^\\s{]");
  private static final Set<String> TYPES = Set.of("\"string\"", "\"integer\"", "\"boolean\"");
  private static final int MAX_DEPTH = 16;

  private ArgumentPaths() {}

  /**
   * Returns the path of each such argument, from the parameters of the call, by the name of its
   * header.
   *
   * @param inputSchema the schema of the arguments, raw; null for none
   * @return empty if the schema uses headers in another way than the specification allows. Clients
   *     over HTTP must not know the tool then
   */
  public static Optional<Map<String, List<String>>> of(@Nullable String inputSchema) {
    if (inputSchema == null || !inputSchema.contains(KEY)) {
      return Optional.of(Map.of());
    }
    Map<String, List<String>> found = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    find(inputSchema, List.of("params", "arguments"), found);
    return USE.matcher(inputSchema).results().count() == found.size()
        ? Optional.of(found)
        : Optional.empty();
  }

  /** Only members of {@code properties} count: elsewhere an argument has no one place. */
  private static void find(String schema, List<String> path, Map<String, List<String>> found) {
    if (!schema.contains(KEY) || path.size() > MAX_DEPTH) {
      return;
    }
    Map<String, String> properties = JsonEdit.members(JsonEdit.members(schema).get("properties"));
    properties.forEach((name, property) -> {
      List<String> inner = new ArrayList<>(path);
      inner.add(name);
      Map<String, String> members = JsonEdit.members(property);
      String header = JsonEdit.text(members.get(KEY));
      if (header != null
          && TOKEN.matcher(header).matches()
          && TYPES.contains(String.valueOf(members.get("type")))) {
        found.putIfAbsent(header, List.copyOf(inner));
      }
      find(property, inner, found);
    });
  }
}
