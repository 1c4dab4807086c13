package dev.holdfast.deploy;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.Lifecycle;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Probe;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeMount;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;

/**
 * What a pod of a rendered chart says about the container of Holdfast, as far as one machine can do
 * it: the program, its files and variables, its ports and probes, and how it is stopped.
 */
final class PodPlan {

  private final RenderedChart chart;
  private final PodSpec pod;
  private final Container container;

  PodPlan(RenderedChart chart) {
    this.chart = chart;
    this.pod = chart.pod();
    this.container = chart.gateway();
    if (!container.getCommand().isEmpty() || !container.getEnvFrom().isEmpty()) {
      throw new IllegalArgumentException("only the command of the image and plain variables run");
    }
  }

  /** What the program gets on its command line. */
  List<String> arguments() {
    return container.getArgs();
  }

  /**
   * The variables of the program.
   *
   * @param mounts local directories by the paths of the container
   */
  Map<String, String> variables(Map<String, Path> mounts) {
    Map<String, String> variables = new HashMap<>();
    for (EnvVar each : container.getEnv()) {
      String value = Objects.requireNonNull(each.getValue(), "only plain variables run");
      for (Map.Entry<String, Path> mount : mounts.entrySet()) {
        value = value.replace(mount.getKey() + "/", mount.getValue() + "/");
      }
      variables.put(each.getName(), value);
    }
    return variables;
  }

  /** Writes the mounted ConfigMaps below a directory; returns where, by paths of the container. */
  Map<String, Path> mount(Path directory) throws IOException {
    Map<String, Path> mounts = new HashMap<>();
    for (VolumeMount mount : container.getVolumeMounts()) {
      Volume volume =
          pod.getVolumes().stream()
              .filter(each -> each.getName().equals(mount.getName()))
              .findFirst()
              .orElseThrow();
      if (volume.getConfigMap() != null) {
        Path local = Files.createDirectory(directory.resolve(mount.getName()));
        for (var file : configMap(volume.getConfigMap().getName()).getData().entrySet()) {
          Files.writeString(local.resolve(file.getKey()), file.getValue());
        }
        mounts.put(mount.getMountPath(), local);
      }
    }
    return mounts;
  }

  private ConfigMap configMap(String name) {
    return chart.all(ConfigMap.class).stream()
        .filter(each -> each.getMetadata().getName().equals(name))
        .findFirst()
        .orElseThrow();
  }

  /** The port for clients on which the program is told to listen. */
  int httpPort() {
    return Integer.parseInt(Objects.requireNonNull(chart.settings().get("quarkus.http.port")));
  }

  /** The port for health and metrics on which the program is told to listen. */
  int managementPort() {
    return Integer.parseInt(
        Objects.requireNonNull(chart.settings().get("quarkus.management.port")));
  }

  /** The port of the container to which the Service leads. */
  int servicePort() {
    return chart.all(Service.class).stream()
        .filter(service ->
            service
                .getSpec()
                .getSelector()
                .equals(chart.deployment().getSpec().getSelector().getMatchLabels()))
        .flatMap(service -> service.getSpec().getPorts().stream())
        .filter(port -> port.getName().equals("http"))
        .mapToInt(port -> number(port.getTargetPort()))
        .findFirst()
        .orElseThrow();
  }

  /** The number of a port of the container, which may have a name. */
  int number(IntOrString port) {
    if (port.getStrVal() == null) {
      return port.getIntVal();
    }
    return container.getPorts().stream()
        .filter(each -> each.getName().equals(port.getStrVal()))
        .mapToInt(ContainerPort::getContainerPort)
        .findFirst()
        .orElseThrow();
  }

  Probe startupProbe() {
    return container.getStartupProbe();
  }

  Probe livenessProbe() {
    return container.getLivenessProbe();
  }

  Probe readinessProbe() {
    return container.getReadinessProbe();
  }

  /** How long the hook before SIGTERM takes. */
  Duration preStop() {
    Lifecycle lifecycle = container.getLifecycle();
    if (lifecycle == null || lifecycle.getPreStop() == null) {
      return Duration.ZERO;
    }
    return Duration.ofSeconds(lifecycle.getPreStop().getSleep().getSeconds());
  }

  /** From the deletion to SIGKILL. */
  Duration gracePeriod() {
    return Duration.ofSeconds(pod.getTerminationGracePeriodSeconds());
  }

  /** For how long a pod must be ready before it counts as available. */
  Duration minReady() {
    return Duration.ofSeconds(
        Objects.requireNonNullElse(chart.deployment().getSpec().getMinReadySeconds(), 0));
  }

  /** How many replicas the chart wants. */
  int replicas() {
    return chart.deployment().getSpec().getReplicas();
  }

  /** How many pods there may be beyond those that are wanted, while some are replaced. */
  int maxSurge(int wanted) {
    return amount(chart.deployment().getSpec().getStrategy().getRollingUpdate().getMaxSurge())
        .orElse(Math.ceilDiv(wanted, 4));
  }

  /** How many of the wanted pods may be missing while some are replaced. */
  int maxUnavailable(int wanted) {
    return amount(chart.deployment().getSpec().getStrategy().getRollingUpdate().getMaxUnavailable())
        .orElse(wanted / 4);
  }

  /** Empty for the default of Kubernetes, a quarter. */
  private static OptionalInt amount(IntOrString value) {
    return value == null ? OptionalInt.empty() : OptionalInt.of(value.getIntVal());
  }
}
