package dev.holdfast.deploy;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpecBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import java.io.IOException;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;

/**
 * The objects of one installation.
 *
 * @param values the values in force
 */
record RenderedChart(JsonNode values, List<HasMetadata> objects) {

  /** Name of the file with servers. */
  static final String SERVERS = "servers.yaml";

  /** Returns the objects of a kind. */
  <T> List<T> all(Class<T> kind) {
    return objects.stream().filter(kind::isInstance).map(kind::cast).toList();
  }

  Deployment deployment() {
    return all(Deployment.class).getFirst();
  }

  PodSpec pod() {
    return deployment().getSpec().getTemplate().getSpec();
  }

  /** The container in which Holdfast runs. */
  Container gateway() {
    return pod().getContainers().getFirst();
  }

  /** Every pod, with its labels. */
  List<PodTemplateSpec> pods() {
    List<PodTemplateSpec> pods = new ArrayList<>();
    all(Deployment.class).forEach(each -> pods.add(each.getSpec().getTemplate()));
    all(StatefulSet.class).forEach(each -> pods.add(each.getSpec().getTemplate()));
    all(Pod.class)
        .forEach(each ->
            pods.add(
                new PodTemplateSpecBuilder()
                    .withMetadata(each.getMetadata())
                    .withSpec(each.getSpec())
                    .build()));
    return pods;
  }

  /** The file with servers that Holdfast reads again when it changes; empty without one. */
  String serversFile() {
    return all(ConfigMap.class).stream()
        .filter(each -> each.getData().containsKey(SERVERS))
        .map(each -> each.getData().get(SERVERS))
        .findFirst()
        .orElse("");
  }

  /** The configuration of Holdfast, by its keys. */
  Map<String, String> settings() {
    ConfigMap config =
        all(ConfigMap.class).stream()
            .filter(each -> each.getData().containsKey("application.properties"))
            .findFirst()
            .orElseThrow();
    Map<String, String> settings = new TreeMap<>();
    Properties properties = new Properties();
    try {
      properties.load(new StringReader(config.getData().get("application.properties")));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    properties.stringPropertyNames().forEach(key -> settings.put(key, properties.getProperty(key)));
    return settings;
  }
}
