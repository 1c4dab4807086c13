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
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;

/**
 * The configuration file: YAML or JSON, with the keys of the program below {@code holdfast}, and
 * with the {@code mcpServers} of MCP clients. It is read when it exists, and the YAML library is
 * loaded only then.
 */
public final class ConfigFile extends MapBackedConfigSource {

  /** The key of the path. */
  static final String KEY = "holdfast.config";

  private static final long serialVersionUID = 1;

  private static final String DEFAULT_PATH = "holdfast.yaml";

  /** Below the environment and {@code .env}, above {@code config/application.properties}. */
  private static final int ORDINAL = 265;

  private final transient Path path;
  private final transient List<String> warnings;

  private ConfigFile(Path path, McpServers servers) {
    super("ConfigFile[source=" + path.toUri() + "]", servers.properties(), ORDINAL);
    this.path = path;
    this.warnings = servers.warnings();
  }

  /** Returns the path of the file. */
  public Path path() {
    return path;
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
    try {
      Map<String, String> flat =
          new YamlConfigSource("", Files.readString(path), ORDINAL).getProperties();
      return new ConfigFile(path, McpServers.read(path, flat));
    } catch (NoSuchFileException missing) {
      throw new InvalidFileException(
          KEY + " names a file that does not exist: create " + path + ", or name another one");
    } catch (IOException unreadable) {
      throw new InvalidFileException(
          path + " cannot be read as UTF-8: check its permissions and its encoding");
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
