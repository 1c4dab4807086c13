package dev.holdfast.wiring.config;

import io.smallrye.config.ConfigMappings.ConfigClass;
import io.smallrye.config.EnvConfigSource;
import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfig;
import io.smallrye.config.SmallRyeConfigBuilder;
import io.smallrye.config.common.MapBackedConfigSource;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/** Reads the configuration as the program does, without starting it. */
public final class ConfigFixture {

  private ConfigFixture() {}

  /** Reads properties. */
  public static SmallRyeConfig by(Map<String, String> properties) {
    return builder().withSources(new PropertiesConfigSource(properties, "test", 400)).build();
  }

  /** Reads environment variables. */
  static SmallRyeConfig byEnvironment(Map<String, String> variables) {
    return builder().withSources(new EnvConfigSource(variables, 300)).build();
  }

  /** Reads variables and properties without their types, as the program does after a failure. */
  static SmallRyeConfig untyped(Map<String, String> variables, Map<String, String> properties) {
    return with(plain(), variables, properties).build();
  }

  /** Reads variables and properties. */
  static SmallRyeConfig by(Map<String, String> variables, Map<String, String> properties) {
    return with(builder(), variables, properties).build();
  }

  private static SmallRyeConfigBuilder with(
      SmallRyeConfigBuilder builder,
      Map<String, String> variables,
      Map<String, String> properties) {
    return builder.withSources(
        new EnvConfigSource(variables, 300),
        new MapBackedConfigSource("SysPropConfigSource", properties, 400) {});
  }

  /** Returns every key with its default, which is empty for a key without one. */
  static Map<String, String> defaults() {
    Map<String, String> defaults = new TreeMap<>();
    UnknownVariables.MAPPINGS.forEach(mapping ->
        new HashMap<>(ConfigClass.configClass(mapping).getProperties())
            .forEach((key, value) -> {
              // Skip the keys of single list items.
              if (!key.endsWith("[*]")) {
                defaults.put(key, value == null ? "" : value);
              }
            }));
    return defaults;
  }

  private static SmallRyeConfigBuilder plain() {
    return new SmallRyeConfigBuilder()
        .addDefaultInterceptors()
        .addDiscoveredConverters()
        .addDiscoveredCustomizers();
  }

  private static SmallRyeConfigBuilder builder() {
    SmallRyeConfigBuilder builder = plain();
    UnknownVariables.MAPPINGS.forEach(builder::withMapping);
    return builder;
  }
}
