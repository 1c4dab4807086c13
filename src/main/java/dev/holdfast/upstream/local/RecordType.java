package dev.holdfast.upstream.local;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.util.JsonRecyclerPools;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.Error;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SchemaRegistryConfig;
import com.networknt.schema.dialect.Dialects;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A record as JSON: its schema, and the way from one to the other. Whatever is read fits the schema
 * first, so a client can rely on what it was told, and a tool on what it gets. Thread-safe.
 */
final class RecordType<R extends Record> {

  private static final ObjectMapper MAPPER =
      JsonMapper.builder(
              // Pooled, not kept per thread: each virtual thread would keep its own.
              JsonFactory.builder()
                  .recyclerPool(JsonRecyclerPools.newConcurrentDequePool())
                  .build())
          // An absent member, and not null: the schema knows no nulls.
          .defaultPropertyInclusion(
              JsonInclude.Value.construct(JsonInclude.Include.NON_NULL, JsonInclude.Include.ALWAYS))
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .build();

  private static final SchemaRegistry SCHEMAS =
      SchemaRegistry.withDialect(
          Dialects.getDraft202012(),
          registry ->
              registry.schemaRegistryConfig(
                  SchemaRegistryConfig.builder()
                      .locale(Locale.ENGLISH)
                      // JSON Schema calls 10.0 an integer, too.
                      .losslessNarrowing(true)
                      .build()));

  /** A client that sends a thousand wrong members need not be told of each. */
  private static final int MAX_ERRORS = 10;

  private final Class<R> type;
  private final ObjectNode schema;
  private final Schema validator;
  private final Map<String, JsonNode> defaults = new LinkedHashMap<>();

  private RecordType(Class<R> type, ObjectNode schema) {
    this.type = type;
    this.schema = schema;
    this.validator = SCHEMAS.getSchema(schema);
    schema
        .path("properties")
        .properties()
        .forEach(property -> {
          if (property.getValue().has("default")) {
            defaults.put(property.getKey(), property.getValue().get("default"));
          }
        });
  }

  /** All that tools take and give. */
  static <R extends Record> RecordType<R> of(Class<R> type) {
    return new RecordType<>(type, Schemas.of(type));
  }

  /**
   * A form that people can fill in: flat, of texts, numbers, booleans and choices.
   *
   * @throws IllegalArgumentException if the record is more than that
   * @see <a
   *     href="https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#requested-schema">MCP
   *     2025-11-25, Elicitation, Requested Schema</a>
   */
  static <R extends Record> RecordType<R> form(Class<R> type) {
    ObjectNode schema = Schemas.of(type);
    schema.remove("additionalProperties");
    schema
        .path("properties")
        .properties()
        .forEach(property -> {
          if (!isPlain(property.getValue())) {
            throw new IllegalArgumentException(
                "Not for a form: " + type.getSimpleName() + "." + property.getKey());
          }
        });
    return new RecordType<>(type, schema);
  }

  private static boolean isPlain(JsonNode property) {
    return switch (property.path("type").asText()) {
      case "string", "number", "integer", "boolean" -> true;
      case "array" -> property.path("items").has("enum");
      default -> false;
    };
  }

  Class<R> type() {
    return type;
  }

  /** Shared; must not be changed. */
  ObjectNode schema() {
    return schema;
  }

  /**
   * Reads a record; of its members, null counts as absent, and defaults stand in for what is.
   *
   * @throws InvalidArgumentsException if it does not fit; says all that is wrong
   */
  R read(ObjectNode json) {
    ObjectNode given = JsonNodeFactory.instance.objectNode();
    defaults.forEach(given::set);
    json.properties().stream()
        .filter(member -> !member.getValue().isNull())
        .forEach(member -> given.set(member.getKey(), member.getValue()));
    List<Error> errors = validator.validate(given);
    if (!errors.isEmpty()) {
      throw new InvalidArgumentsException(describe(errors));
    }
    try {
      return MAPPER.treeToValue(given, type);
    } catch (JsonProcessingException e) {
      throw new InvalidArgumentsException(describe(e));
    }
  }

  /**
   * Writes a record.
   *
   * @throws IllegalArgumentException if it does not fit its own schema
   */
  ObjectNode write(Record value) {
    ObjectNode json = MAPPER.valueToTree(type.cast(value));
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

  /** What the record's own constructor says is meant for whoever called it; the rest is not. */
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

  /** A JSON pointer, of which the first slash says nothing. */
  private static String at(String pointer) {
    return pointer.isEmpty() ? "" : pointer.substring(1) + ": ";
  }
}
