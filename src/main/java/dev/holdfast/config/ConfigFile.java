package dev.holdfast.config;

import io.smallrye.config.ConfigSourceContext;
import io.smallrye.config.ConfigSourceFactory;
import io.smallrye.config.SmallRyeConfigBuilder;
import io.smallrye.config.SmallRyeConfigBuilderCustomizer;
import io.smallrye.config.common.MapBackedConfigSource;
import io.smallrye.config.source.yaml.YamlConfigSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.config.spi.ConfigSource;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.DuplicateKeyException;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;

/**
 * The configuration file: YAML or JSON, with the keys of the program below {@code holdfast}, and
 * with the {@code mcpServers} of MCP clients. It is read when it exists, and the YAML library is
 * loaded only then.
 */
public final class ConfigFile extends MapBackedConfigSource {

  static final String KEY = "holdfast.config";

  private static final String DEFAULT_PATH = "holdfast.yaml";

  /** Below the environment and {@code .env}, above {@code config/application.properties}. */
  private static final int ORDINAL = 265;

  private final transient Path path;
  private final transient String text;
  private final transient List<String> warnings;

  private ConfigFile(Path path, String text, McpServers servers) {
    super("ConfigFile[source=" + path.toUri() + "]", servers.properties(), ORDINAL);
    this.path = path;
    this.text = text;
    this.warnings = servers.warnings();
  }

  /** Returns the path of the file. */
  public Path path() {
    return path;
  }

  /** Returns the text of the file, which may have secrets. */
  public String text() {
    return text;
  }

  /** Returns a line for each member of the file that is ignored. */
  public List<String> warnings() {
    return warnings;
  }

  /**
   * Reads a file.
   *
   * @throws InvalidFileException if the file cannot be read, or is not valid
   */
  static ConfigFile read(Path path) {
    return parse(path, readText(path));
  }

  /**
   * Reads the text of a file. Throws as {@link #parse} does.
   *
   * @param path may be a link
   */
  public static String readText(Path path) {
    try {
      return Files.readString(path);
    } catch (NoSuchFileException missing) {
      throw new InvalidFileException(
          KEY + " names a file that does not exist: create " + path + ", or name another one");
    } catch (IOException unreadable) {
      throw new InvalidFileException(
          path + " cannot be read as UTF-8: check its permissions and its encoding");
    }
  }

  /**
   * Parses the text of a file.
   *
   * @throws InvalidFileException if the file is not valid
   */
  public static ConfigFile parse(Path path, String text) {
    try {
      LoaderOptions strict = new LoaderOptions();
      strict.setAllowDuplicateKeys(false);
      Object document = new Yaml(new SafeConstructor(strict)).load(text);
      Map<String, String> flat = new YamlConfigSource("", text, ORDINAL).getProperties();
      return new ConfigFile(path, text, McpServers.read(path, document, flat));
    } catch (DuplicateKeyException twice) {
      throw new InvalidFileException(
          "%s line %d has a %s: remove one of them"
              .formatted(
                  path,
                  twice.getProblemMark().getLine() + 1,
                  twice.getProblem().replaceFirst("found duplicate key", "second key")));
    } catch (MarkedYAMLException invalid) {
      throw new InvalidFileException(
          "%s line %d, column %d is not valid YAML or JSON: %s"
              .formatted(
                  path,
                  invalid.getProblemMark().getLine() + 1,
                  invalid.getProblemMark().getColumn() + 1,
                  String.valueOf(invalid.getProblem()).lines().findFirst().orElse("")));
    } catch (YAMLException | ClassCastException invalid) {
      throw new InvalidFileException(path + " is not valid YAML or JSON: check it with a linter");
    }
  }

  /** Adds the file to the sources of the configuration. */
  public static final class Customizer implements SmallRyeConfigBuilderCustomizer {

    @Override
    public void configBuilder(SmallRyeConfigBuilder builder) {
      builder.withSources((ConfigSourceFactory) Customizer::sources);
    }

    private static Iterable<ConfigSource> sources(ConfigSourceContext context) {
      String configured = context.getValue(KEY).getValue();
      if (configured != null && !configured.isBlank()) {
        return List.of(read(Path.of(configured)));
      }
      Path path = Path.of(DEFAULT_PATH);
      return Files.exists(path) ? List.of(read(path)) : List.of();
    }
  }
}
