package dev.holdfast.wiring;

import io.smallrye.config.ConfigMappings.ConfigClass;
import io.smallrye.config.EnvConfigSource;
import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfig;
import io.smallrye.config.SmallRyeConfigBuilder;
import io.smallrye.config.validator.BeanValidationConfigValidator;
import jakarta.validation.Validation;
import jakarta.validation.Validator;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/** The configuration as the program reads it, without the program. */
final class ConfigFixture {

  private static final Validator VALIDATOR =
      Validation.buildDefaultValidatorFactory().getValidator();

  private ConfigFixture() {}

  /** Reads these properties. */
  static SmallRyeConfig by(Map<String, String> properties) {
    return builder().withSources(new PropertiesConfigSource(properties, "test", 400)).build();
  }

  /** Reads these variables. */
  static SmallRyeConfig byEnvironment(Map<String, String> variables) {
    return builder().withSources(new EnvConfigSource(variables, 300)).build();
  }

  /** Every key with its default; the text is empty where there is none. */
  static Map<String, String> defaults() {
    Map<String, String> defaults = new TreeMap<>();
    UnknownVariables.MAPPINGS.forEach(mapping ->
        new HashMap<>(ConfigClass.configClass(mapping).getProperties())
            .forEach((key, value) -> {
              // A list can also be given item by item.
              if (!key.endsWith("[*]")) {
                defaults.put(key, value == null ? "" : value);
              }
            }));
    return defaults;
  }

  private static SmallRyeConfigBuilder builder() {
    SmallRyeConfigBuilder builder =
        new SmallRyeConfigBuilder()
            .addDefaultInterceptors()
            .addDiscoveredConverters()
            .withValidator((BeanValidationConfigValidator) () -> VALIDATOR);
    UnknownVariables.MAPPINGS.forEach(builder::withMapping);
    return builder;
  }
}
