package dev.holdfast.deploy;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.HTTPGetAction;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.Probe;
import io.fabric8.kubernetes.api.model.SleepAction;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeMount;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The pod starts the program, finds it healthy, and lets it finish. */
final class PodChecks {

  /** At most 5 s for other replicas to take over, and 1 s for the last frames: Lifecycle, Drain. */
  private static final Duration HANDOVER = Duration.ofSeconds(6);

  private static final String FILE = "application.properties";

  private PodChecks() {}

  /** The hook, the drain and the end of the program fit into the grace period. */
  static List<String> gracePeriod(RenderedChart chart) {
    ProgramSettings program = new ProgramSettings(chart);
    SleepAction hook = chart.gateway().getLifecycle().getPreStop().getSleep();
    Duration needed =
        Duration.ofSeconds(hook.getSeconds())
            .plus(program.duration("holdfast.stream.drain-timeout", "20s"))
            .plus(program.duration("quarkus.shutdown.delay", "0s"))
            .plus(HANDOVER)
            .plus(program.duration("quarkus.shutdown.timeout", "0s"))
            .plus(program.duration("quarkus.virtual-threads.shutdown-timeout", "0s"))
            .plus(program.duration("quarkus.thread-pool.shutdown-timeout", "0s"));
    Duration grace = Duration.ofSeconds(chart.pod().getTerminationGracePeriodSeconds());
    List<String> problems = new ArrayList<>();
    if (hook.getSeconds() < 1) {
      problems.add("no time to leave the load balancers");
    }
    if (grace.compareTo(needed) < 0) {
      problems.add("stopping takes up to " + needed + ", the grace period is " + grace);
    }
    return problems;
  }

  /** Each probe asks for what the program serves, where it serves it. */
  static List<String> probes(RenderedChart chart) {
    ProgramSettings program = new ProgramSettings(chart);
    Container gateway = chart.gateway();
    return Stream.of(
            problem("/started", gateway.getStartupProbe(), gateway, program),
            problem("/live", gateway.getLivenessProbe(), gateway, program),
            problem("/ready", gateway.getReadinessProbe(), gateway, program),
            named("http", gateway, program.get("quarkus.http.port", "8080")))
        .flatMap(List::stream)
        .toList();
  }

  private static List<String> problem(
      String path, Probe probe, Container container, ProgramSettings program) {
    HTTPGetAction get = probe.getHttpGet();
    List<String> problems = new ArrayList<>();
    if (!get.getPath().equals(program.healthRoot() + path)) {
      problems.add("the program does not serve " + get.getPath());
    }
    problems.addAll(named(get.getPort().getStrVal(), container, program.healthPort()));
    return problems;
  }

  private static List<String> named(String name, Container container, String expected) {
    boolean right =
        container.getPorts().stream()
            .filter(port -> port.getName().equals(name))
            .map(ContainerPort::getContainerPort)
            .anyMatch(port -> port.toString().equals(expected));
    return right ? List.of() : List.of("the port " + name + " is not " + expected);
  }

  /** The program finds the rendered files, and sees changes of its servers. */
  static List<String> configurationFile(RenderedChart chart) {
    List<String> problems = new ArrayList<>(unread(chart, FILE, "QUARKUS_CONFIG_LOCATIONS"));
    if (!chart.values().path("mcpServers").isEmpty()) {
      problems.addAll(unread(chart, RenderedChart.SERVERS, "HOLDFAST_CONFIG"));
    }
    return problems;
  }

  /** Kubernetes updates directories, and never a file that is mounted by a path in a volume. */
  private static List<String> unread(RenderedChart chart, String file, String variable) {
    Set<String> maps =
        chart.all(ConfigMap.class).stream()
            .filter(map -> map.getData().containsKey(file))
            .map(map -> map.getMetadata().getName())
            .collect(Collectors.toSet());
    Set<String> mounted =
        chart.pod().getVolumes().stream()
            .filter(volume -> Objects.nonNull(volume.getConfigMap()))
            .filter(volume -> maps.contains(volume.getConfigMap().getName()))
            .map(Volume::getName)
            .collect(Collectors.toSet());
    Set<String> paths =
        chart.gateway().getVolumeMounts().stream()
            .filter(mount -> mounted.contains(mount.getName()) && mount.getSubPath() == null)
            .map(mount -> mount.getMountPath() + "/" + file)
            .collect(Collectors.toSet());
    boolean named =
        chart.gateway().getEnv().stream()
            .filter(each -> each.getName().equals(variable))
            .map(EnvVar::getValue)
            .anyMatch(paths::contains);
    return named ? List.of() : List.of("the program does not read " + file + " in " + paths);
  }

  /**
   * Every mounted volume exists, every volume is mounted, and certificates are where they should.
   */
  static List<String> volumes(RenderedChart chart) {
    List<String> problems = new ArrayList<>();
    for (PodTemplateSpec pod : chart.pods()) {
      Set<String> mounted =
          containers(pod.getSpec())
              .flatMap(each -> each.getVolumeMounts().stream())
              .map(VolumeMount::getName)
              .collect(Collectors.toSet());
      Set<String> volumes =
          pod.getSpec().getVolumes().stream().map(Volume::getName).collect(Collectors.toSet());
      if (!mounted.equals(volumes) && !isClaimed(chart, mounted, volumes)) {
        problems.add("mounts " + mounted + " of " + volumes);
      }
    }
    Set<String> paths =
        chart.gateway().getVolumeMounts().stream()
            .map(VolumeMount::getMountPath)
            .collect(Collectors.toSet());
    chart.settings().values().stream()
        .filter(value -> value.startsWith("/etc/holdfast/"))
        .filter(value -> !paths.contains(value.substring(0, value.lastIndexOf('/'))))
        .forEach(value -> problems.add(value + " is not mounted"));
    return problems;
  }

  /** The volume of the bundled Redis may be a claim instead. */
  private static boolean isClaimed(RenderedChart chart, Set<String> mounted, Set<String> volumes) {
    return chart.values().at("/redis/bundled/persistence/enabled").asBoolean()
        && volumes.isEmpty()
        && mounted.equals(Set.of("data"));
  }

  /** Servers beside Holdfast live longer than it, so that a drain can finish their calls. */
  static List<String> sidecars(RenderedChart chart) {
    long restarting =
        chart.pod().getInitContainers().stream()
            .filter(each -> "Always".equals(each.getRestartPolicy()))
            .count();
    return restarting == chart.values().path("sidecars").size()
            && chart.pod().getContainers().size() == 1
        ? List.of()
        : List.of("a sidecar stops together with Holdfast");
  }

  /** All containers of a pod. */
  static Stream<Container> containers(PodSpec pod) {
    return Stream.concat(pod.getInitContainers().stream(), pod.getContainers().stream());
  }
}
