package dev.holdfast.deploy;

import static java.util.Map.entry;

import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.cfg.CoercionAction;
import com.fasterxml.jackson.databind.cfg.CoercionInputShape;
import com.fasterxml.jackson.databind.introspect.Annotated;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;
import com.fasterxml.jackson.databind.type.LogicalType;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.autoscaling.v2.HorizontalPodAutoscaler;
import io.fabric8.kubernetes.api.model.gatewayapi.v1.HTTPRoute;
import io.fabric8.kubernetes.api.model.networking.v1.Ingress;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.openshift.api.model.monitoring.v1.PrometheusRule;
import io.fabric8.openshift.api.model.monitoring.v1.ServiceMonitor;
import java.io.IOException;
import java.io.Serial;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Reads Kubernetes objects as strictly as an API server does: unknown fields and wrong types fail.
 */
final class Manifests {

  private static final Map<String, Class<? extends HasMetadata>> KINDS =
      Map.ofEntries(
          entry("v1/ConfigMap", ConfigMap.class),
          entry("v1/Pod", Pod.class),
          entry("v1/Service", Service.class),
          entry("v1/ServiceAccount", ServiceAccount.class),
          entry("apps/v1/Deployment", Deployment.class),
          entry("apps/v1/StatefulSet", StatefulSet.class),
          entry("autoscaling/v2/HorizontalPodAutoscaler", HorizontalPodAutoscaler.class),
          entry("policy/v1/PodDisruptionBudget", PodDisruptionBudget.class),
          entry("networking.k8s.io/v1/NetworkPolicy", NetworkPolicy.class),
          entry("networking.k8s.io/v1/Ingress", Ingress.class),
          entry("gateway.networking.k8s.io/v1/HTTPRoute", HTTPRoute.class),
          entry("monitoring.coreos.com/v1/ServiceMonitor", ServiceMonitor.class),
          entry("monitoring.coreos.com/v1/PrometheusRule", PrometheusRule.class));

  private static final YAMLMapper STRICT = strictMapper();

  private Manifests() {}

  private static YAMLMapper strictMapper() {
    YAMLMapper mapper =
        YAMLMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
            .annotationIntrospector(new NoAnySetters())
            .build();
    mapper
        .coercionConfigFor(LogicalType.Textual)
        .setCoercion(CoercionInputShape.Integer, CoercionAction.Fail)
        .setCoercion(CoercionInputShape.Float, CoercionAction.Fail)
        .setCoercion(CoercionInputShape.Boolean, CoercionAction.Fail);
    return mapper;
  }

  /** The models take any unknown field as an additional property otherwise. */
  private static final class NoAnySetters extends JacksonAnnotationIntrospector {

    @Serial private static final long serialVersionUID = 1L;

    @Override
    public Boolean hasAnySetter(Annotated annotated) {
      return false;
    }
  }

  /** Reads the objects of a YAML stream. */
  static List<HasMetadata> parse(String yaml) {
    List<HasMetadata> objects = new ArrayList<>();
    try (var documents = STRICT.readerFor(JsonNode.class).<JsonNode>readValues(yaml)) {
      while (documents.hasNext()) {
        JsonNode document = documents.next();
        if (document != null && !document.isNull() && !document.isEmpty()) {
          objects.add(read(document));
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return objects;
  }

  private static HasMetadata read(JsonNode document) throws IOException {
    String kind = document.path("apiVersion").asText() + "/" + document.path("kind").asText();
    Class<? extends HasMetadata> type = KINDS.get(kind);
    if (type == null) {
      throw new IllegalArgumentException("no model of " + kind);
    }
    return STRICT.treeToValue(document, type);
  }
}
