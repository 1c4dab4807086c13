package dev.holdfast.config;

import io.smallrye.config.ConfigValue;
import io.smallrye.config.SmallRyeConfig;
import java.net.URI;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** Names the place where a user has set a configuration key. */
public final class ConfigOrigin {

  /** Sources with this ordinal or a lower one are part of the program. */
  static final int PROGRAM = 250;

  /** The source of values that are fixed when the program is built. It hides all others. */
  private static final String FIXED = "BuildTime RunTime Fixed";

  private static final String FILE = "[source=file:";

  private ConfigOrigin() {}

  /** Returns the keys that are set or have a default. */
  public static Stream<String> keys(SmallRyeConfig config) {
    return StreamSupport.stream(config.getPropertyNames().spliterator(), false);
  }

  /** Returns the key with its origin in brackets, or the key alone if it has its default. */
  public static String named(SmallRyeConfig config, String key) {
    String origin = of(config.getConfigValue(key));
    return origin.isEmpty() ? key : key + " (" + origin + ")";
  }

  /** Returns the origin of a value; empty for a default. */
  public static String of(ConfigValue value) {
    String source = value.getConfigSourceName();
    return source == null ? "" : of(value.getName(), source, value.getConfigSourceOrdinal());
  }

  private static String of(String key, String source, int ordinal) {
    if (ordinal <= PROGRAM) {
      return "";
    }
    String file = file(source);
    if (source.startsWith("EnvConfigSource")) {
      return file.isEmpty() ? variable(key) : variable(key) + " in " + file;
    }
    if (source.startsWith("SysPropConfigSource")) {
      return "command line";
    }
    return file.isEmpty() ? source : file;
  }

  /** Returns where a user has set a key whose value is fixed when the program is built. */
  public static Optional<String> ofFixed(SmallRyeConfig config, String key) {
    return StreamSupport.stream(config.getConfigSources().spliterator(), false)
        .filter(source -> !source.getName().equals(FIXED) && source.getValue(key) != null)
        .map(source -> of(key, source.getName(), source.getOrdinal()))
        .filter(origin -> !origin.isEmpty())
        .findFirst();
  }

  /** Returns the environment variable of a key. */
  public static String variable(String key) {
    return key.toUpperCase(Locale.ROOT).replaceAll("[^A-Z0-9*]", "_");
  }

  /** Returns the path of the file in the name of a source, as short as possible; else nothing. */
  static String file(String source) {
    int start = source.indexOf(FILE);
    if (start < 0 || !source.endsWith("]")) {
      return "";
    }
    String url = source.substring(start + FILE.length() - "file:".length(), source.length() - 1);
    Path path = Path.of(URI.create(url));
    Path here = Path.of("").toAbsolutePath();
    return path.startsWith(here) ? here.relativize(path).toString() : path.toString();
  }
}
