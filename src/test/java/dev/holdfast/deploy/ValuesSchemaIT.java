package dev.holdfast.deploy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.wiring.config.ConfigFixture;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The schema of the values accepts every key of the configuration, and refuses mistakes. */
class ValuesSchemaIT {

  private static final JsonNode SCHEMA =
      Yaml.read(Chart.RELEASED.directory().resolve("values.schema.json"));
  private static final JsonNode VALUES =
      Yaml.read(Chart.RELEASED.directory().resolve("values.yaml"));

  /** Returns what the schema must say about a key. */
  private static JsonNode expected(ConfigurationKeys.Key key) {
    ObjectNode type = Yaml.MAPPER.createObjectNode();
    String values = key.values();
    if (values.equals("`true`, `false`")) {
      return type.put("type", "boolean");
    }
    if (values.startsWith("number")) {
      return type.put("type", "integer")
          .put("minimum", Integer.parseInt(key.choices().getFirst()))
          .put("maximum", Integer.parseInt(key.choices().getLast()));
    }
    if (values.startsWith("`")) {
      type.putPOJO("enum", key.choices());
      return Yaml.MAPPER.valueToTree(type);
    }
    return type.put(
        "$ref", "#/definitions/" + values.replaceAll(",.*", "").replaceAll("URL|path", "text"));
  }

  @Test
  void shouldDescribeEveryKeyOfTheConfiguration() {
    Map<String, JsonNode> config = new TreeMap<>();
    Map<String, JsonNode> named = new TreeMap<>();
    Map<String, JsonNode> upstream = new TreeMap<>();
    for (ConfigurationKeys.Key key : ConfigurationKeys.all()) {
      if (key.name().startsWith("upstream.")) {
        String name = key.name().substring("upstream.".length());
        if (name.endsWith(".<name>")) {
          ObjectNode map = Yaml.MAPPER.createObjectNode().put("type", "object");
          map.set("additionalProperties", expected(key));
          upstream.put(name.replace(".<name>", ""), map);
        } else {
          upstream.put(name, expected(key));
        }
      } else if (key.name().contains("<name>")) {
        String pattern = key.name().replace(".", "\\.").replace("<name>", ".+");
        named.put("^" + pattern + "$", expected(key));
      } else if (!key.name().equals("store")) {
        config.put(key.name(), expected(key));
      }
    }

    assertThat(properties("/properties/config/properties")).isEqualTo(config);
    assertThat(properties("/properties/config/patternProperties")).isEqualTo(named);
    assertThat(properties("/definitions/upstream/properties")).isEqualTo(upstream);
  }

  private static Map<String, JsonNode> properties(String path) {
    Map<String, JsonNode> properties = new TreeMap<>();
    SCHEMA.at(path).properties().forEach(entry -> properties.put(entry.getKey(), entry.getValue()));
    return properties;
  }

  /** Sets all keys, the default upstream's except those that exclude its URL. */
  @Test
  void shouldPassOnEveryKeyOfTheConfiguration(@TempDir Path scratch) throws IOException {
    ObjectNode values = Yaml.MAPPER.createObjectNode();
    Map<String, String> expected = new TreeMap<>();
    for (ConfigurationKeys.Key key : ConfigurationKeys.all()) {
      String name = key.name().replace("<name>", "x-name");
      if (name.startsWith("upstream.")) {
        String part = name.substring("upstream.".length());
        set(values.withObject("/upstreams/my-program"), part, key, part.equals("url"));
        set(values.withObject("/upstream"), part, key, part.equals("command"));
        if (!part.equals("url")) {
          expected.put("holdfast.upstreams.my-program." + part, key.example());
        }
        if (!part.equals("command")) {
          expected.put("holdfast." + name, key.example());
        }
      } else {
        set(name.equals("store") ? values : values.withObject("/config"), name, key, false);
        expected.put("holdfast." + name, key.example());
      }
    }
    values.put("replicaCount", 1);
    Path file = scratch.resolve("values.yaml");
    Yaml.write(file, values);

    Map<String, String> settings = new TreeMap<>(Chart.RELEASED.render(file).settings());

    settings.keySet().removeIf(key -> !key.startsWith("holdfast."));
    assertThat(settings).isEqualTo(expected);
    // Its example is no file.
    settings.remove("holdfast.config");
    assertThat(ConfigFixture.by(settings)).isNotNull();
  }

  private static void set(ObjectNode values, String name, ConfigurationKeys.Key key, boolean skip) {
    if (skip) {
      return;
    }
    int dot = name.indexOf('.');
    boolean inMap = name.endsWith(".x-name") && name.indexOf('.', dot + 1) < 0;
    ObjectNode parent = inMap ? values.withObject("/" + name.substring(0, dot)) : values;
    String field = inMap ? name.substring(dot + 1) : name;
    String example = key.example();
    if (key.values().startsWith("number")) {
      parent.put(field, Integer.parseInt(example));
    } else if (key.values().equals("`true`, `false`")) {
      parent.put(field, Boolean.parseBoolean(example));
    } else {
      parent.put(field, example);
    }
  }

  @Test
  void shouldDescribeEveryValue() {
    List<String> differences = new ArrayList<>();
    compare("", VALUES, SCHEMA, differences);

    assertThat(differences).isEmpty();
  }

  /** An object with described properties allows no others, and has a default for each. */
  private static void compare(String path, JsonNode values, JsonNode schema, List<String> found) {
    JsonNode described = resolve(schema);
    if (!described.has("properties") || path.equals("/config")) {
      return;
    }
    if (!described.path("additionalProperties").isBoolean()) {
      found.add(path + " takes anything");
    }
    described
        .get("properties")
        .properties()
        .forEach(entry -> {
          JsonNode value = values.path(entry.getKey());
          boolean ownKeys = path.equals("/upstream") || entry.getKey().equals("global");
          if (value.isMissingNode() && !ownKeys) {
            found.add(path + "/" + entry.getKey() + " is not in values.yaml");
          }
          compare(path + "/" + entry.getKey(), value, entry.getValue(), found);
        });
  }

  private static JsonNode resolve(JsonNode schema) {
    return schema.has("$ref") ? SCHEMA.at(schema.get("$ref").asText().substring(1)) : schema;
  }

  /** Values, and the part of the message that names the mistake. */
  static Stream<Arguments> mistakes() {
    return Stream.of(
        arguments("replicas: 3", "replicas"),
        arguments("image: {name: x}", "name"),
        arguments("redis: {bundled: {image: {version: 8}}}", "version"),
        arguments("redis: {url: 'http://redis:6379'}", "url"),
        arguments("redis: {type: replication}", "type"),
        arguments("store: file", "store"),
        arguments("config: {stream.event-tll: 1h}", "stream.event-tll"),
        arguments("config: {stream.event-ttl: one hour}", "event-ttl"),
        arguments("config: {stream.event-ttl: 3600}", "event-ttl"),
        arguments("config: {stream.max-events: 5}", "max-events"),
        arguments("config: {replay.on-gap: ignore}", "on-gap"),
        arguments("config: {log.stream-bytes: 1 GB}", "stream-bytes"),
        arguments("config: {upstream.url: 'http://x'}", "upstream.url"),
        arguments("config: {stream.drain-timeout: null}", "drain-timeout"),
        arguments("upstream: {uri: 'http://x'}", "uri"),
        arguments("upstream: {headers: {a: {secretRef: {name: x}}}}", "headers"),
        arguments("upstreams: {default: {url: 'http://x'}}", "default"),
        arguments("upstreams: {other: {max-processes: 0}}", "max-processes"),
        arguments("mcpServers: {other: {type: http}}", "other"),
        arguments("mcpServers: {other: {url: 'http://x', command: x}}", "other"),
        arguments("mcpServers: {other: {url: 'http://x', headers: {a: {}}}}", "headers"),
        arguments("mcpServers: {default: {url: 'http://x'}}", "default"),
        arguments("preStopSeconds: 0", "preStopSeconds"),
        arguments("shutdownSeconds: 5", "shutdownSeconds"),
        arguments("ports: {http: 70000}", "http"),
        arguments("service: {type: ExternalName}", "type"),
        arguments("service: {externalTrafficPolicy: local}", "externalTrafficPolicy"),
        arguments("service: {ipFamilyPolicy: DualStack}", "ipFamilyPolicy"),
        arguments("serviceMonitor: {scrapeTimeout: 10}", "scrapeTimeout"),
        arguments("trustedProxies: [proxy.example.com]", "trustedProxies"),
        arguments("paths: [mcp]", "paths"),
        arguments("ingress: {hosts: ['https://mcp.example.com']}", "hosts"),
        arguments("podDisruptionBudget: {maxUnavailable: some}", "maxUnavailable"),
        arguments("topologySpread: {nodes: Always}", "nodes"),
        arguments("command: serve", "command"));
  }

  @ParameterizedTest
  @MethodSource("mistakes")
  void shouldRefuseMistake(String values, String named, @TempDir Path scratch) throws IOException {
    assertThatThrownBy(() -> Chart.RELEASED.render(file(scratch, values)))
        .hasMessageContaining("values don't meet the specifications of the schema")
        .hasMessageContaining(named);
  }

  /** Values that the schema cannot refuse, and the message. */
  static Stream<Arguments> contradictions() {
    return Stream.of(
        arguments("{}", "Set redis.url"),
        arguments(
            "{redis: {url: 'redis://r'}, upstreams: {a: {url: 'http://a'}}, mcpServers: {a: {url:"
                + " 'http://a'}}}",
            "a is in both upstreams and mcpServers"),
        arguments(
            "{redis: {url: 'redis://r'}, config: {config: x.yaml}, mcpServers: {a: {url:"
                + " 'http://a'}}}",
            "config.config and mcpServers exclude each other"),
        arguments("store: memory", "store=memory is for one replica"),
        arguments(
            "{store: memory, autoscaling: {enabled: true}}", "store=memory is for one replica"),
        arguments(
            "{redis: {url: 'redis://x'}, upstream: {url: 'http://x', command: y}}",
            "upstream has both a url and a command"),
        arguments(
            "{redis: {url: 'redis://x'}, ingress: {enabled: true, hosts: ['*.example.com']}}",
            "cannot allow all hosts of *.example.com"),
        arguments(
            "{redis: {url: 'redis://x'}, ingress: {enabled: true}}", "ingress.hosts is empty"),
        arguments(
            "{redis: {url: 'redis://x'}, httpRoute: {enabled: true}}",
            "httpRoute.parentRefs is empty"),
        arguments(
            "{redis: {url: 'redis://x'}, serviceMonitor: {enabled: true}}",
            "serviceMonitor needs networkPolicy.monitoring"));
  }

  @ParameterizedTest
  @MethodSource("contradictions")
  void shouldRefuseContradiction(String values, String message, @TempDir Path scratch)
      throws IOException {
    assertThatThrownBy(() -> Chart.RELEASED.render(file(scratch, values)))
        .hasMessageContaining(message);
  }

  private static Path file(Path scratch, String values) throws IOException {
    return Files.writeString(scratch.resolve("values.yaml"), values);
  }
}
