package dev.holdfast.deploy;

import dev.holdfast.testing.PackagedProgram;
import dev.holdfast.testing.Ports;
import io.fabric8.kubernetes.api.model.Probe;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * A pod as a process of this machine, with what a kubelet does for it: it probes the process, and
 * stops it with the {@code preStop} hook, SIGTERM, and SIGKILL after the grace period. The ports of
 * the container lie on free ports of this machine.
 */
final class LocalPod implements AutoCloseable {

  private static final HttpClient HTTP =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  /** 128 and the number of SIGTERM, with which a JVM ends that was asked to. */
  private static final int TERMINATED = 143;

  private final String name;
  private final PodPlan plan;
  private final Consumer<String> problems;
  private final Map<Integer, Integer> ports;
  private final Path output;
  private final Process process;
  private volatile boolean ready;
  private volatile long readySince;
  private volatile boolean terminating;

  /**
   * Starts the program.
   *
   * @param directory of this pod's own, where its files go
   * @param problems is told of what should not happen to a pod
   */
  LocalPod(String name, PodPlan plan, Path directory, Consumer<String> problems) {
    this.name = name;
    this.plan = plan;
    this.problems = problems;
    ports = Map.of(plan.httpPort(), Ports.free(), plan.managementPort(), Ports.free());
    output = directory.resolve("output");
    try {
      process = launch(directory);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    Thread.ofVirtual().name(name).start(this::probe);
    var _ = process.onExit().thenAccept(this::ended);
  }

  private Process launch(Path directory) throws IOException {
    Map<String, Path> mounts = plan.mount(directory);
    // A pod has an address of its own.
    List<String> options =
        PackagedProgram.shortLived(
            "-Xmx256m",
            "-Dquarkus.http.host=127.0.0.1",
            "-Dquarkus.http.port=" + local(plan.httpPort()),
            "-Dquarkus.management.host=127.0.0.1",
            "-Dquarkus.management.port=" + local(plan.managementPort()));
    ProcessBuilder builder =
        new ProcessBuilder(PackagedProgram.command(options, plan.arguments()))
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile());
    builder.environment().clear();
    builder.environment().putAll(plan.variables(mounts));
    return builder.start();
  }

  /** The port of this machine for one of the container; one where nobody listens for others. */
  private int local(int containerPort) {
    return Objects.requireNonNullElseGet(ports.get(containerPort), Ports::free);
  }

  /** Where the Service sends requests for this pod. */
  URI url() {
    return URI.create("http://127.0.0.1:" + local(plan.servicePort()));
  }

  PodPlan plan() {
    return plan;
  }

  /** Whether the readiness probe succeeds, and the pod is not being deleted. */
  boolean isReady() {
    return ready && !terminating;
  }

  /** Whether it was ready for as long as the Deployment asks. */
  boolean isAvailable() {
    return isReady() && System.nanoTime() - readySince >= plan.minReady().toNanos();
  }

  boolean isTerminating() {
    return terminating;
  }

  boolean isGone() {
    return !process.isAlive();
  }

  private void probe() {
    Probe startup = plan.startupProbe();
    try {
      int failures = 0;
      while (!succeeds(startup)) {
        failures++;
        if (failures >= startup.getFailureThreshold()) {
          fail("did not start");
          return;
        }
        TimeUnit.SECONDS.sleep(startup.getPeriodSeconds());
      }
      Thread.ofVirtual().start(() -> watch(plan.livenessProbe(), _ -> {}, () -> fail("is dead")));
      watch(plan.readinessProbe(), this::becomeReady, () -> ready = false);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private void becomeReady(boolean success) {
    if (success && !ready) {
      readySince = System.nanoTime();
      ready = true;
    }
  }

  /** Probes for as long as the pod is wanted. */
  private void watch(Probe probe, Consumer<Boolean> onResult, Runnable onFailure) {
    int failures = 0;
    try {
      while (!terminating && process.isAlive()) {
        boolean success = succeeds(probe);
        failures = success ? 0 : failures + 1;
        if (failures == probe.getFailureThreshold() && !terminating) {
          onFailure.run();
        }
        onResult.accept(success);
        TimeUnit.SECONDS.sleep(probe.getPeriodSeconds());
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean succeeds(Probe probe) throws InterruptedException {
    int port = local(plan.number(probe.getHttpGet().getPort()));
    HttpRequest request =
        HttpRequest.newBuilder(
                URI.create("http://127.0.0.1:" + port + probe.getHttpGet().getPath()))
            .timeout(Duration.ofSeconds(probe.getTimeoutSeconds()))
            .build();
    try {
      int status = HTTP.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
      return status >= 200 && status < 400;
    } catch (IOException away) {
      return false;
    }
  }

  private void fail(String what) {
    problems.accept(name + " " + what + "\n" + output());
    process.destroyForcibly();
  }

  /** Deletes the pod. Returns at once. */
  void delete() {
    terminating = true;
    Thread.ofVirtual().name(name + " stops").start(this::stop);
  }

  private void stop() {
    long end = System.nanoTime() + plan.gracePeriod().toNanos();
    try {
      TimeUnit.NANOSECONDS.sleep(Math.min(plan.preStop().toNanos(), end - System.nanoTime()));
      if (end > System.nanoTime()) {
        process.toHandle().destroy();
      }
      if (!process.waitFor(end - System.nanoTime(), TimeUnit.NANOSECONDS)) {
        fail("was killed after the grace period");
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private void ended(Process process) {
    int exitCode = process.exitValue();
    if (!terminating || (exitCode != 0 && exitCode != TERMINATED)) {
      problems.accept(name + " ended with exit code " + exitCode);
    }
  }

  /** All that the program has written. */
  String output() {
    try {
      return Files.readString(output);
    } catch (IOException failure) {
      return failure.toString();
    }
  }

  /** Ends the process, if it still runs. */
  @Override
  public void close() {
    terminating = true;
    process.destroyForcibly();
    process.onExit().join();
  }
}
