package dev.holdfast.upstream.local.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonMappingException;
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
import com.networknt.schema.Error;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SchemaRegistryConfig;
import com.networknt.schema.dialect.Dialects;
import dev.holdfast.upstream.local.InvalidArgumentsException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Converts a record from and to JSON. Checks the JSON against the schema in both directions, so
 * clients and tools can rely on it. Thread-safe.
 */
final class RecordCodec<R extends Record> {

  private static final SchemaRegistry SCHEMAS =
      SchemaRegistry.withDialect(
          Dialects.getDraft202012(),
          registry ->
              registry.schemaRegistryConfig(
                  SchemaRegistryConfig.builder()
                      .locale(Locale.ENGLISH)
                      // In JSON Schema, 10.0 is an integer too.
                      .losslessNarrowing(true)
                      .build()));

  private static final int MAX_ERRORS = 10;

  private static final Map<Class<?>, RecordCodec<?>> FORMS = new ConcurrentHashMap<>();

  private final Class<R> type;
  private final ObjectNode schema;
  private final Schema validator;
  private final Map<String, JsonNode> defaults = new LinkedHashMap<>();

  private RecordCodec(Class<R> type, ObjectNode schema) {
    this.type = type;
    this.schema = schema;
    this.validator = SCHEMAS.getSchema(schema);
    for (Map.Entry<String, JsonNode> property : properties(schema)) {
      if (property.getValue().has("default")) {
        defaults.put(property.getKey(), property.getValue().get("default"));
      }
    }
  }

  private static Set<Map.Entry<String, JsonNode>> properties(ObjectNode schema) {
    return schema.path("properties").properties();
  }

  /** Creates the codec of a tool's or prompt's record. Slow: meant for the start. */
  static <R extends Record> RecordCodec<R> of(Class<R> type) {
    return new RecordCodec<>(type, RecordSchemas.of(type));
  }

  /**
   * Returns the codec of an elicitation form. Forms are flat and hold only texts, numbers, booleans
   * and choices (MCP 2025-11-25, Elicitation, Requested Schema).
   */
  @SuppressWarnings("unchecked") // each value is stored under its own class
  static <R extends Record> RecordCodec<R> form(Class<R> type) {
    return (RecordCodec<R>) FORMS.computeIfAbsent(type, _ -> newForm(type));
  }

  private static <R extends Record> RecordCodec<R> newForm(Class<R> type) {
    ObjectNode schema = RecordSchemas.of(type);
    schema.remove("additionalProperties");
    for (Map.Entry<String, JsonNode> property : properties(schema)) {
      if (!isPlain(property.getValue())) {
        throw new IllegalArgumentException(
            "Not for a form: " + type.getSimpleName() + "." + property.getKey());
      }
    }
    return new RecordCodec<>(type, schema);
  }

  private static boolean isPlain(JsonNode property) {
    return switch (property.path("type").asText()) {
      case "string", "number", "integer", "boolean" -> true;
      case "array" -> property.path("items").has("enum");
      default -> false;
    };
  }

  /** Returns the schema. Shared; must not be changed. */
  ObjectNode schema() {
    return schema;
  }

  /** Reads a record. Null counts as absent; defaults replace absent members. */
  R read(ObjectNode json) {
    ObjectNode given = Json.object();
    defaults.forEach(given::set);
    json.properties().stream()
        .filter(member -> !member.getValue().isNull())
        .forEach(member -> given.set(member.getKey(), member.getValue()));
    List<Error> errors = validator.validate(given);
    if (!errors.isEmpty()) {
      throw new InvalidArgumentsException(describe(errors));
    }
    try {
      return Json.MAPPER.treeToValue(given, type);
    } catch (JsonProcessingException e) {
      throw new InvalidArgumentsException(describe(e));
    }
  }

  /** Throws {@link IllegalArgumentException} if the record does not fit the schema. */
  ObjectNode write(@Nullable Record value) {
    if (!type.isInstance(value)) {
      throw new IllegalArgumentException("not a " + type.getSimpleName());
    }
    ObjectNode json = Json.MAPPER.valueToTree(value);
    List<Error> errors = validator.validate(json);
    if (!errors.isEmpty()) {
      throw new IllegalArgumentException(describe(errors));
    }
    return json;
  }

  private static String describe(List<Error> errors) {
    return errors.stream()
        .limit(MAX_ERRORS)
        .map(error -> at(error.getInstanceLocation().toString()) + error.getMessage())
        .collect(Collectors.joining("; "));
  }

  /** Only messages of the record's own constructor are meant for clients. */
  private static String describe(JsonProcessingException problem) {
    String path =
        problem instanceof JsonMappingException mapping
            ? mapping.getPath().stream()
                .map(step ->
                    "/" + (step.getFieldName() == null ? step.getIndex() : step.getFieldName()))
                .collect(Collectors.joining())
            : "";
    return at(path)
        + (problem.getCause() instanceof IllegalArgumentException own && own.getMessage() != null
            ? own.getMessage()
            : "is out of range");
  }

  /** Drops the first slash of a JSON pointer. */
  private static String at(String pointer) {
    return pointer.isEmpty() ? "" : pointer.substring(1) + ": ";
  }

  /**
   * Derives JSON schemas (2020-12, the dialect of MCP) from records. A component is required unless
   * it is {@link Nullable} or {@link JsonProperty#defaultValue} gives a default.
   */
  static final class RecordSchemas {

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
              .with(
                  new JakartaValidationModule(JakartaValidationOption.INCLUDE_PATTERN_EXPRESSIONS));
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
}
