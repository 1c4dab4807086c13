package dev.holdfast.deploy;

import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.testing.ContainerEngine;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.Ports;
import dev.holdfast.testing.ToolRequest;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Builds the images and runs them in containers, as docs/install.md says. Skipped where neither
 * Docker nor Podman runs. {@code holdfast.containers} names the Dockerfile, by default that of the
 * JVM; {@code holdfast.containers.build} has further options of the build.
 */
@Tag("long")
@Timeout(value = 40, unit = TimeUnit.MINUTES)
class ContainersIT {

  private static final String IMAGE = "holdfast/holdfast:jvm";
  private static final String DOCKERFILE =
      System.getProperty("holdfast.containers", "src/main/docker/Dockerfile.jvm");
  private static final boolean NATIVE = DOCKERFILE.endsWith("native");
  private static final int CLIENTS = 100;

  private static ContainerEngine engine;

  private final List<String> started = new ArrayList<>();

  @TempDir private Path directory;

  @BeforeAll
  static void build() {
    var found = ContainerEngine.find();
    assumeTrue(found.isPresent(), "no container engine runs here: docker or podman");
    engine = found.get();
    List<String> command = new ArrayList<>(List.of("build", "-f", DOCKERFILE, "-t", IMAGE));
    if (engine.program().equals("podman")) {
      // The default format of Podman has no health check.
      command.addAll(List.of("--format", "docker"));
    }
    command.addAll(
        Stream.of(System.getProperty("holdfast.containers.build", "").split(" "))
            .filter(option -> !option.isEmpty())
            .toList());
    command.add(".");
    engine.run(command.toArray(String[]::new));
  }

  @AfterEach
  void stop() {
    started.forEach(name -> engine.run("rm", "-f", name));
  }

  private String start(int port, String... options) {
    String name = "holdfast-test-" + port;
    List<String> command = new ArrayList<>(List.of("run", "-d", "--name", name, "--read-only"));
    command.addAll(List.of("--cap-drop", "ALL", "-p", "127.0.0.1:" + port + ":8080"));
    command.addAll(List.of("-e", "HOLDFAST_DEMO_TOOLS=always"));
    command.addAll(List.of(options));
    command.add(IMAGE);
    started.add(name);
    engine.run(command.toArray(String[]::new));
    return name;
  }

  private static McpClient client(int port) {
    URI url = URI.create("http://localhost:" + port + "/mcp");
    return await()
        .atMost(Duration.ofMinutes(2))
        .ignoreExceptions()
        .until(() -> McpClient.at(url).ready(), _ -> true);
  }

  private static String state(String container, String field) {
    return engine.run("inspect", "-f", "{{.State." + field + "}}", container).strip();
  }

  @Test
  void shouldServeAHundredClientsInSmallMemory() throws Exception {
    int port = Ports.free();
    String container = start(port, "--memory", "256m", "--memory-swap", "256m");
    client(port);
    String text = "x".repeat(100_000);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> calls = new ArrayList<>();
      IntStream.range(0, CLIENTS)
          .forEach(_ ->
              calls.add(
                  threads.submit(() -> {
                    McpClient client = client(port);
                    for (int call = 1; call <= 10; call++) {
                      // A client that sends too much at once is refused, and costs nobody else
                      // anything.
                      assertThat(client.post(echo(call, text)).statusCode()).isIn(200, 503);
                    }
                  })));
      engine.run("exec", container, "sh", "-c", healthCheck());
      for (Future<?> call : calls) {
        call.get();
      }
    }

    assertThat(state(container, "OOMKilled")).isEqualTo("false");
    assertThat(state(container, "Running")).isEqualTo("true");
  }

  private static String echo(int id, String text) {
    return ToolRequest.of(id, "echo", "{\"message\":\"" + text + "\"}");
  }

  private static String healthCheck() {
    return NATIVE
        ? "holdfast doctor --live"
        : "java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx32m"
            + " -jar /opt/holdfast/quarkus-run.jar doctor --live";
  }

  @Test
  void shouldFinishACallBeforeItIsStopped() throws Exception {
    int port = Ports.free();
    String container = start(port);
    McpClient client = client(port);
    try (FrameStream call = client.call("countdown", "{\"from\":3}")) {
      call.next();

      engine.run("stop", container);

      assertThat(call.rest().toString()).contains("\"result\"");
    }
    assertThat(state(container, "ExitCode")).isNotEqualTo("137");
  }

  @Test
  void shouldRefuseAConfigFileThatItCannotReadInOneLine() throws Exception {
    Path file = Files.writeString(directory.resolve("servers.yaml"), "mcpServers: {}");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    String container =
        start(
            Ports.free(), "-v", file + ":/servers.yaml:ro", "-e", "HOLDFAST_CONFIG=/servers.yaml");
    await().atMost(Duration.ofMinutes(2)).until(() -> state(container, "Running").equals("false"));

    String logs = engine.run("logs", container);

    assertThat(logs.strip().lines()).as(logs).hasSizeLessThanOrEqualTo(1);
  }

  /** A process whose parent has ended becomes a child of the container's first one. */
  @Test
  void shouldReapProcessesThatServersLeaveBehind() {
    assumeFalse(NATIVE, "this image has no init: docs/install.md says what to do");
    int port = Ports.free();
    String container = start(port);
    client(port);

    engine.run("exec", container, "sh", "-c", "(sleep 0.1 &)");

    await()
        .until(
            () -> engine.run("exec", container, "sh", "-c", "cat /proc/[0-9]*/comm"),
            names -> !names.contains("sleep"));
  }

  /**
   * The pod of the chart as an engine runs it: with its user, its read-only root, without
   * capabilities, in its limit of memory, with its configuration. Its calls end before it does.
   */
  @Test
  void shouldRunThePodOfTheChart() throws Exception {
    assumeTrue(engine.program().equals("podman"), "only Podman runs pods of Kubernetes");
    // Podman would build the image of a directory here that has its name.
    String pod = "localhost/holdfast/pod:test";
    int http = Ports.free();
    int management = Ports.free();
    Path values =
        Files.writeString(
            directory.resolve("values.yaml"),
            """
            image: {repository: localhost/holdfast/pod, tag: test, pullPolicy: Never}
            store: memory
            replicaCount: 1
            config: {demo-tools: always, stream.drain-timeout: 10s}
            ports: {http: %d, management: %d}
            preStopSeconds: 1
            """
                .formatted(http, management));
    RenderedChart chart = Chart.RELEASED.render(values);
    Path objects = directory.resolve("objects.yaml");
    for (HasMetadata each : chart.objects()) {
      if (each instanceof ConfigMap || each instanceof Deployment) {
        Files.writeString(objects, Yaml.MAPPER.writeValueAsString(each), CREATE, APPEND);
      }
    }
    engine.run("tag", IMAGE, pod);
    engine.run("kube", "play", objects.toString());
    try {
      String container = engine.run("ps", "--filter", "ancestor=" + pod, "-q").strip();
      McpClient client = client(http);

      assertThat(
              engine
                  .run(
                      "inspect",
                      "-f",
                      "{{.Config.User}} {{.HostConfig.ReadonlyRootfs}} {{.EffectiveCaps}}"
                          + " {{.HostConfig.Memory}}",
                      container)
                  .strip())
          .isEqualTo("65532:65532 true [] " + Quantity.getAmountInBytes(memory(chart)));
      try (FrameStream call = client.call("countdown", "{\"from\":3}")) {
        call.next();

        engine.run("stop", container);

        assertThat(call.rest().toString()).contains("\"result\"");
      }
      assertThat(state(container, "ExitCode")).isNotEqualTo("137");
    } finally {
      engine.run("kube", "down", objects.toString());
    }
  }

  private static Quantity memory(RenderedChart chart) {
    return requireNonNull(chart.gateway().getResources().getLimits().get("memory"));
  }

  /**
   * Three replicas behind a balancer: a kill, a freeze and a cut network in the middle of calls.
   */
  @Test
  void shouldContinueCallsInTheDeploymentOfCompose() throws Exception {
    assumeTrue(engine.hasCompose(), "no docker compose or podman-compose is installed");
    Path deploy = deployment();
    String[] up = {
      "up", "-d", "redis", "tools", "holdfast-1", "holdfast-2", "holdfast-3", "balancer"
    };
    try {
      engine.compose(deploy, up);
      client(8080);
      for (Fault fault : faults()) {
        showTakeOver(fault.injected());
        // With another address after two of the three: the balancer finds it again.
        String name = service("holdfast-" + Files.readString(directory.resolve("owner")).strip());
        engine.run(fault.healed().replace("NAME", name).split(" "));
        client(8080);
      }
    } finally {
      engine.compose(deploy, "down", "-v");
    }
  }

  /** Two commands of the engine: what happens to a replica, and how it comes back. */
  private record Fault(String injected, String healed) {}

  private List<Fault> faults() {
    String network =
        engine
            .run(
                "inspect",
                "-f",
                "{{range $name, $_ := .NetworkSettings.Networks}}{{$name}}{{end}}",
                service("holdfast-1"))
            .strip();
    return List.of(
        new Fault("kill", "start NAME"),
        new Fault("pause", "unpause NAME"),
        new Fault("network disconnect " + network, "network connect " + network + " NAME"));
  }

  private static String service(String name) {
    return engine
        .run(
            "ps",
            "-a",
            "--filter",
            "label=com.docker.compose.service=" + name,
            "--format",
            "{{.Names}}")
        .strip();
  }

  /** Runs the script with a fault in place of its kill. */
  private void showTakeOver(String fault) throws IOException, InterruptedException {
    Path kill = directory.resolve("fault.sh");
    String filter = "label=com.docker.compose.service=holdfast-$1";
    Files.writeString(
        kill,
        """
        echo "$1" > %s
        %s %s "$(%2$s ps --filter %s --format '{{.Names}}')"
        """
            .formatted(directory.resolve("owner"), engine.program(), fault, filter));
    ProcessBuilder script = new ProcessBuilder("sh", "deploy/show-take-over.sh").inheritIO();
    script.environment().put("KILL", "sh " + kill);
    assertThat(script.start().waitFor()).as(fault).isZero();
  }

  /** The folder of the deployment. An nginx before 1.27.3 cannot look up a name again. */
  private Path deployment() throws IOException {
    Path deploy = Files.createDirectories(directory.resolve("deploy"));
    Files.copy(Path.of("deploy/compose.yaml"), deploy.resolve("compose.yaml"));
    String balancer = Files.readString(Path.of("deploy/nginx.conf"));
    String version =
        engine.run("run", "--rm", "nginx:1.29-alpine", "sh", "-c", "nginx -v 2>&1").strip();
    if (version.matches(".*/1\\.(1\\d|2[0-6])\\..*")) {
      balancer = balancer.replace(" resolve;", ";");
    }
    Files.writeString(deploy.resolve("nginx.conf"), balancer);
    return deploy;
  }
}
