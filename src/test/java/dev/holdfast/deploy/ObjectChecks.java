package dev.holdfast.deploy;

import dev.holdfast.testing.DocumentedMetrics;
import dev.holdfast.testing.DocumentedMetrics.Part;
import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServicePort;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.autoscaling.v2.HorizontalPodAutoscaler;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.openshift.api.model.monitoring.v1.Endpoint;
import io.fabric8.openshift.api.model.monitoring.v1.PrometheusRule;
import io.fabric8.openshift.api.model.monitoring.v1.ServiceMonitor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** The objects fit together. */
final class ObjectChecks {

  private static final Set<String> SELECTOR =
      Set.of("app.kubernetes.io/name", "app.kubernetes.io/instance", "app.kubernetes.io/component");

  private ObjectChecks() {}

  /** Each selector finds the pods of one kind, in every version of the chart. */
  static List<String> selectors(RenderedChart chart) {
    List<String> problems = new ArrayList<>();
    chart
        .all(Service.class)
        .forEach(service -> {
          check(problems, chart, service, service.getSpec().getSelector());
          service.getSpec().getPorts().forEach(port -> check(problems, chart, service, port));
        });
    Stream.of(chart.deployment())
        .forEach(
            each -> check(problems, chart, each, each.getSpec().getSelector().getMatchLabels()));
    chart
        .all(StatefulSet.class)
        .forEach(
            each -> check(problems, chart, each, each.getSpec().getSelector().getMatchLabels()));
    chart
        .all(PodDisruptionBudget.class)
        .forEach(
            each -> check(problems, chart, each, each.getSpec().getSelector().getMatchLabels()));
    chart
        .all(NetworkPolicy.class)
        .forEach(
            each -> check(problems, chart, each, each.getSpec().getPodSelector().getMatchLabels()));
    chart.pod().getTopologySpreadConstraints().stream()
        .filter(each -> each.getLabelSelector() != null)
        .forEach(each ->
            check(problems, chart, chart.deployment(), each.getLabelSelector().getMatchLabels()));
    return problems;
  }

  private static void check(
      List<String> problems, RenderedChart chart, HasMetadata by, Map<String, String> selector) {
    String component = by.getMetadata().getName().endsWith("-redis") ? "redis" : "gateway";
    if (!selector.keySet().equals(SELECTOR)
        || !component.equals(selector.get("app.kubernetes.io/component"))
        || chart.pods().stream()
                .filter(pod -> contains(pod.getMetadata().getLabels(), selector))
                .count()
            != 1) {
      problems.add(name(by) + " selects " + selector);
    }
  }

  private static void check(
      List<String> problems, RenderedChart chart, Service service, ServicePort port) {
    boolean found =
        chart.pods().stream()
            .filter(pod -> contains(pod.getMetadata().getLabels(), service.getSpec().getSelector()))
            .flatMap(pod -> pod.getSpec().getContainers().getFirst().getPorts().stream())
            .map(ContainerPort::getName)
            .anyMatch(name -> name.equals(port.getTargetPort().getStrVal()));
    if (!found) {
      problems.add(name(service) + " has no port " + port.getTargetPort());
    }
  }

  private static boolean contains(Map<String, String> labels, Map<String, String> selector) {
    return labels.entrySet().containsAll(selector.entrySet());
  }

  /** Each object has a name of its own, the namespace of the installation, and the usual labels. */
  static List<String> labels(RenderedChart chart) {
    List<String> problems = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (HasMetadata object : chart.objects()) {
      if (!names.add(name(object))) {
        problems.add("twice: " + name(object));
      }
      if (!Chart.NAMESPACE.equals(object.getMetadata().getNamespace())) {
        problems.add("no namespace: " + name(object));
      }
      if (!object.getMetadata().getName().endsWith("-extra")
          && !object.getMetadata().getLabels().keySet().containsAll(SELECTOR)) {
        problems.add("no labels: " + name(object));
      }
    }
    return problems;
  }

  private static String name(HasMetadata object) {
    return object.getKind() + "/" + object.getMetadata().getName();
  }

  /** A metric of the JVM, which {@code HealthAndMetricsTest} finds. */
  private static final String LIVE_HEAP = "jvm_memory_usage_after_gc";

  /** The autoscaler and the budget leave enough replicas, and the metric exists. */
  static List<String> scaling(RenderedChart chart) {
    List<String> problems = new ArrayList<>();
    List<HorizontalPodAutoscaler> scalers = chart.all(HorizontalPodAutoscaler.class);
    if (scalers.isEmpty() == (chart.deployment().getSpec().getReplicas() == null)) {
      problems.add("an upgrade would reset the number of replicas, or nobody sets it");
    }
    for (HorizontalPodAutoscaler scaler : scalers) {
      if (!scaler
          .getSpec()
          .getScaleTargetRef()
          .getName()
          .equals(chart.deployment().getMetadata().getName())) {
        problems.add("scales " + scaler.getSpec().getScaleTargetRef());
      }
      scaler.getSpec().getMetrics().stream()
          .filter(metric -> metric.getPods() != null)
          .map(metric -> metric.getPods().getMetric().getName())
          .filter(metric -> !metric.equals(LIVE_HEAP) && !metrics().contains(metric))
          .forEach(metric -> problems.add("no metric " + metric));
    }
    boolean several = !scalers.isEmpty() || chart.deployment().getSpec().getReplicas() > 1;
    if (several == chart.all(PodDisruptionBudget.class).isEmpty()) {
      problems.add("evictions are not limited, or never allowed");
    }
    return problems;
  }

  private static Set<String> metrics() {
    try {
      return DocumentedMetrics.of(Part.ANY_STORE).keySet();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Prometheus finds the metrics, and the rules are not empty. */
  static List<String> monitoring(RenderedChart chart) {
    List<String> problems = new ArrayList<>();
    for (ServiceMonitor monitor : chart.all(ServiceMonitor.class)) {
      Endpoint endpoint = monitor.getSpec().getEndpoints().getFirst();
      long found =
          chart.all(Service.class).stream()
              .filter(service ->
                  contains(
                      service.getMetadata().getLabels(),
                      monitor.getSpec().getSelector().getMatchLabels()))
              .flatMap(service -> service.getSpec().getPorts().stream())
              .filter(port -> port.getName().equals(endpoint.getPort()))
              .count();
      if (found != 1 || !endpoint.getPath().equals("/q/metrics")) {
        problems.add("scrapes " + endpoint);
      }
    }
    for (PrometheusRule rule : chart.all(PrometheusRule.class)) {
      if (rule.getSpec() == null || rule.getSpec().getGroups().isEmpty()) {
        problems.add("no alerts");
      }
    }
    return problems;
  }
}
