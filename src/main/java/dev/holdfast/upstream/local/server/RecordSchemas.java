package dev.holdfast.upstream.local.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import com.github.victools.jsonschema.generator.FieldScope;
import com.github.victools.jsonschema.generator.Option;
import com.github.victools.jsonschema.generator.OptionPreset;
import com.github.victools.jsonschema.generator.SchemaGenerator;
import com.github.victools.jsonschema.generator.SchemaGeneratorConfigBuilder;
import com.github.victools.jsonschema.generator.SchemaVersion;
import com.github.victools.jsonschema.module.jackson.JacksonModule;
import com.github.victools.jsonschema.module.jackson.JacksonOption;
import com.github.victools.jsonschema.module.jakarta.validation.JakartaValidationModule;
import com.github.victools.jsonschema.module.jakarta.validation.JakartaValidationOption;
import org.jspecify.annotations.Nullable;

/**
 * Derives JSON schemas (2020-12, the dialect of MCP) from records. A component is required unless
 * it is {@link Nullable} or {@link JsonProperty#defaultValue} gives a default.
 */
final class RecordSchemas {

  private RecordSchemas() {}

  /** Derives a schema. Slow: meant for the start, not for each call. */
  static ObjectNode of(Class<? extends Record> type) {
    SchemaGeneratorConfigBuilder config =
        new SchemaGeneratorConfigBuilder(
                Json.MAPPER, SchemaVersion.DRAFT_2020_12, OptionPreset.PLAIN_JSON)
            .with(
                Option.FORBIDDEN_ADDITIONAL_PROPERTIES_BY_DEFAULT,
                Option.MAP_VALUES_AS_ADDITIONAL_PROPERTIES)
            .without(Option.SCHEMA_VERSION_INDICATOR)
            .with(new JacksonModule(JacksonOption.FLATTENED_ENUMS_FROM_JSONPROPERTY))
            .with(new JakartaValidationModule(JakartaValidationOption.INCLUDE_PATTERN_EXPRESSIONS));
    // Keeps the order of declaration.
    config.forTypesInGeneral().withPropertySorter((_, _) -> 0);
    config
        .forFields()
        .withRequiredCheck(RecordSchemas::isRequired)
        .withNullableCheck(_ -> false)
        .withDefaultResolver(RecordSchemas::defaultOf);
    // Parsed again from text, because the generator leaves Java objects in the tree.
    String schema = new SchemaGenerator(config.build()).generateSchema(type).toString();
    return Json.read(schema.getBytes(UTF_8)).orElseThrow();
  }

  private static boolean isRequired(FieldScope component) {
    return defaultOf(component) == null
        && !component.getRawMember().getAnnotatedType().isAnnotationPresent(Nullable.class);
  }

  private static @Nullable JsonNode defaultOf(FieldScope component) {
    JsonProperty property = component.getRawMember().getAnnotation(JsonProperty.class);
    if (property == null || property.defaultValue().isEmpty()) {
      return null;
    }
    Class<?> type = component.getRawMember().getType();
    if (type == String.class || type.isEnum()) {
      return TextNode.valueOf(property.defaultValue());
    }
    try {
      return Json.MAPPER.readTree(property.defaultValue());
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(
          "The default of " + component.getName() + " is not JSON", e);
    }
  }
}
