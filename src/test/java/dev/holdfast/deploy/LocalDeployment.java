package dev.holdfast.deploy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.RoundRobin;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * The Deployment and the Service of a rendered chart on this machine. Like the controllers of
 * Kubernetes, it looks again and again, and starts or deletes pods until they are as wanted. The
 * balancer learns of a change only after a while, as the nodes of a cluster do.
 */
final class LocalDeployment implements AutoCloseable {

  private static final Duration INTERVAL = Duration.ofMillis(100);

  private final Path directory;
  private final Duration lag;
  private final RoundRobin balancer = RoundRobin.withoutTargets();
  private final List<LocalPod> pods = new CopyOnWriteArrayList<>();
  private final Queue<String> problems = new ConcurrentLinkedQueue<>();
  private final ScheduledExecutorService controller =
      Executors.newSingleThreadScheduledExecutor(Thread.ofVirtual().factory());

  private volatile PodPlan plan;
  private volatile int replicas;

  /** The endpoints that the balancer knows. */
  private volatile List<URI> published = List.of();

  // The controller's own.
  private int started;
  private List<URI> endpoints = List.of();

  /**
   * Starts the replicas that the chart wants.
   *
   * @param directory where pods have their files
   * @param lag how long a change takes to reach the balancer
   */
  LocalDeployment(RenderedChart chart, Path directory, Duration lag) {
    this.directory = directory;
    this.lag = lag;
    plan = new PodPlan(chart);
    replicas = plan.replicas();
    var _ =
        controller.scheduleWithFixedDelay(
            this::look, 0, INTERVAL.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** Where clients go. The host is one that the chart allows. */
  URI url() {
    return URI.create("http://localhost:" + balancer.url("/mcp").getPort() + "/mcp");
  }

  /** Replaces all pods by those of another rendering, or of the same one. */
  void rollOut(RenderedChart chart) {
    plan = new PodPlan(chart);
  }

  /** Changes the number of replicas. */
  void scale(int wanted) {
    replicas = wanted;
  }

  /**
   * Waits until pods and balancer are as wanted, and no other pods are left; fails when one has a
   * problem.
   */
  void awaitComplete(Duration most) {
    await()
        .atMost(most)
        .pollInterval(INTERVAL)
        .failFast("a pod has a problem", () -> assertThat(problems).as(this::describe).isEmpty())
        .until(() ->
            pods.size() == replicas
                && published.size() == replicas
                && pods.stream().allMatch(pod -> pod.plan() == plan && pod.isAvailable()));
  }

  /** What should not have happened to pods. */
  List<String> problems() {
    return List.copyOf(problems);
  }

  /** The problems, and what the pods have written. */
  String describe() {
    return problems + pods.stream().map(LocalPod::output).collect(Collectors.joining("\n== pod\n"));
  }

  private void look() {
    try {
      pods.removeIf(LocalPod::isGone);
      reconcile(pods.stream().filter(pod -> !pod.isTerminating()).toList());
      updateEndpoints();
    } catch (RuntimeException unexpected) {
      problems.add(unexpected.toString());
    }
  }

  /** Pods that terminate do not count, neither as surge nor as available. */
  private void reconcile(List<LocalPod> living) {
    PodPlan current = plan;
    int wanted = replicas;
    List<LocalPod> latest = living.stream().filter(pod -> pod.plan() == current).toList();
    List<LocalPod> older = living.stream().filter(pod -> pod.plan() != current).toList();
    int allowed = wanted + (older.isEmpty() ? 0 : current.maxSurge(wanted)) - living.size();
    for (int i = 0; i < Math.min(wanted - latest.size(), allowed); i++) {
      pods.add(start(current));
    }
    if (latest.size() > wanted) {
      delete(latest, latest.size() - wanted);
    }
    long available = living.stream().filter(LocalPod::isAvailable).count();
    long removable = available - (wanted - current.maxUnavailable(wanted));
    delete(
        older, older.stream().filter(pod -> !pod.isAvailable()).count() + Math.max(removable, 0));
  }

  /** Those that are not ready first, and then the youngest. */
  private static void delete(List<LocalPod> from, long count) {
    List<LocalPod> order = new ArrayList<>(from.reversed());
    order.sort(Comparator.comparing(LocalPod::isReady));
    order.stream().limit(count).forEach(LocalPod::delete);
  }

  private LocalPod start(PodPlan current) {
    started++;
    String name = "pod-" + started;
    try {
      return new LocalPod(
          name, current, Files.createDirectory(directory.resolve(name)), problems::add);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private void updateEndpoints() {
    List<URI> now = pods.stream().filter(LocalPod::isReady).map(LocalPod::url).toList();
    if (!now.equals(endpoints)) {
      endpoints = now;
      var _ = controller.schedule(() -> publish(now), lag.toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  private void publish(List<URI> urls) {
    balancer.retarget(urls);
    published = urls;
  }

  @Override
  public void close() {
    controller.shutdownNow();
    balancer.close();
    pods.forEach(LocalPod::close);
  }
}
