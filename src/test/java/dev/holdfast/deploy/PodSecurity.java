package dev.holdfast.deploy;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.PodSecurityContext;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.SecurityContext;
import io.fabric8.kubernetes.api.model.Volume;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The Pod Security Standard "restricted", and a bit more: a read-only root file system, and no
 * token of Kubernetes.
 *
 * @see <a href="https://kubernetes.io/docs/concepts/security/pod-security-standards/">Pod Security
 *     Standards</a>
 */
final class PodSecurity {

  private PodSecurity() {}

  static List<String> restricted(RenderedChart chart) {
    List<String> problems = new ArrayList<>();
    for (PodTemplateSpec pod : chart.pods()) {
      problems.addAll(problems(pod.getSpec()));
      PodChecks.containers(pod.getSpec()).forEach(each -> problems.addAll(problems(each)));
    }
    return problems;
  }

  private static List<String> problems(PodSpec pod) {
    List<String> problems = new ArrayList<>();
    PodSecurityContext context = pod.getSecurityContext();
    require(problems, context != null, "no security context of the pod");
    if (context != null) {
      require(problems, Boolean.TRUE.equals(context.getRunAsNonRoot()), "may run as root");
      require(problems, !Objects.equals(context.getRunAsUser(), 0L), "runs as root");
      require(
          problems,
          context.getSeccompProfile() != null
              && "RuntimeDefault".equals(context.getSeccompProfile().getType()),
          "no seccomp profile");
      require(problems, context.getSysctls().isEmpty(), "sets sysctls");
    }
    require(
        problems,
        isOff(pod.getHostNetwork()) && isOff(pod.getHostPID()) && isOff(pod.getHostIPC()),
        "shares namespaces of the host");
    require(
        problems,
        Boolean.FALSE.equals(pod.getAutomountServiceAccountToken()),
        "has a token of Kubernetes");
    require(problems, pod.getVolumes().stream().allMatch(PodSecurity::isAllowed), "host volumes");
    return problems;
  }

  private static List<String> problems(Container container) {
    List<String> problems = new ArrayList<>();
    SecurityContext context = container.getSecurityContext();
    if (context == null) {
      return List.of("no security context of " + container.getName());
    }
    require(problems, isOff(context.getPrivileged()), "privileged");
    require(
        problems,
        Boolean.FALSE.equals(context.getAllowPrivilegeEscalation()),
        "may gain privileges");
    require(
        problems,
        Boolean.TRUE.equals(context.getReadOnlyRootFilesystem()),
        "may write to its root file system");
    require(
        problems,
        context.getCapabilities() != null
            && context.getCapabilities().getDrop().contains("ALL")
            && context.getCapabilities().getAdd().isEmpty(),
        "has capabilities");
    require(
        problems,
        container.getPorts().stream().map(ContainerPort::getHostPort).allMatch(Objects::isNull),
        "port of the host");
    return problems.stream().map(problem -> container.getName() + ": " + problem).toList();
  }

  private static boolean isAllowed(Volume volume) {
    return Stream.of(
            volume.getConfigMap(),
            volume.getEmptyDir(),
            volume.getSecret(),
            volume.getProjected(),
            volume.getPersistentVolumeClaim())
        .anyMatch(Objects::nonNull);
  }

  private static boolean isOff(@Nullable Boolean flag) {
    return !Boolean.TRUE.equals(flag);
  }

  private static void require(List<String> problems, boolean condition, String otherwise) {
    if (!condition) {
      problems.add(otherwise);
    }
  }
}
