package dev.holdfast.deploy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The keys of docs/configuration.md. Another test compares that page with the program. */
final class ConfigurationKeys {

  private static final Pattern ROW =
      Pattern.compile("(?m)^\\| `([^`]+)` \\| `[^`]+` \\| (?:`([^`]*)`|–) \\| ([^|]+) \\| .+ \\|$");

  private static final Pattern QUOTED = Pattern.compile("`([^`]+)`");

  private ConfigurationKeys() {}

  /**
   * A key.
   *
   * @param name without {@code holdfast.}
   * @param defaultValue empty for none
   * @param values description of the valid values
   */
  record Key(String name, String defaultValue, String values) {

    /** A valid value. */
    String example() {
      if (!defaultValue.isEmpty()) {
        return defaultValue;
      }
      return switch (values) {
        case "URL" -> "http://server:3000/mcp";
        case "path" -> "/tmp";
        case "list" -> "/a,/b";
        case "text" -> "text = \\ with : 'signs' #";
        default -> values.startsWith("size") ? "2M" : choices().getFirst();
      };
    }

    /** The values that the description names. */
    List<String> choices() {
      return QUOTED.matcher(values).results().map(match -> match.group(1)).toList();
    }
  }

  /** Reads all keys; those of named upstreams only once, as those of the default upstream. */
  static List<Key> all() {
    return rows().filter(key -> !key.name().startsWith("upstreams.")).toList();
  }

  private static Stream<Key> rows() {
    try {
      return ROW.matcher(Files.readString(Path.of("docs", "configuration.md")))
          .results()
          .map(
              row -> new Key(row.group(1), row.group(2) == null ? "" : row.group(2), row.group(3)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
