package dev.holdfast.testing;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.DoubleStream;

/** A gateway as it is shipped: the packaged program, running as a process of its own. */
public final class Gateway implements AutoCloseable {

  private static final Pattern READY = Pattern.compile("Listening on: https?://[^:]+:(\\d+)");

  private static final Pattern MANAGEMENT =
      Pattern.compile("Management interface listening on http://[^:]+:(\\d+)");

  private final Host host;
  private final ServerProcess server;

  private Gateway(Host host, ServerProcess server) {
    this.host = host;
    this.server = server;
  }

  /**
   * Starts a gateway on a free port and returns when it listens. Its JVM is set up for a process
   * that lives for seconds.
   *
   * @param settings configuration keys and values, such as {@code holdfast.upstream.url}
   */
  public static Gateway start(Map<String, String> settings) {
    return start(settings, PackagedProgram.shortLived("-Xmx512m").toArray(String[]::new));
  }

  /** Starts a gateway on a host as {@link #start(Map)} does. */
  public static Gateway start(Host host, Map<String, String> settings) {
    Map<String, String> all = new HashMap<>(settings);
    all.put("quarkus.http.host", host.address());
    all.put("quarkus.management.host", host.address());
    List<String> options =
        options(all, PackagedProgram.shortLived("-Xmx512m").toArray(String[]::new));
    return start(host, PackagedProgram.command(options, List.of()));
  }

  /** Starts a gateway that plays a tape, and returns when it listens. */
  public static Gateway replay(Path tape, String... options) {
    List<String> arguments = new ArrayList<>(List.of("replay", tape.toString()));
    arguments.addAll(List.of(options));
    String[] jvm = PackagedProgram.shortLived("-Xmx256m").toArray(String[]::new);
    return start(PackagedProgram.command(options(Map.of(), jvm), arguments));
  }

  /** Starts two gateways with the same settings, as {@link #startAll} does. */
  public static List<Gateway> startPair(Map<String, String> settings) {
    return startAll(List.of(settings, settings));
  }

  /** Starts a gateway for each of the settings, at the same time; returns when all listen. */
  public static List<Gateway> startAll(List<Map<String, String>> settings) {
    return startTogether(
        settings.stream().<Supplier<Gateway>>map(each -> () -> start(each)).toList());
  }

  /** Starts gateways at the same time; returns when all listen. */
  public static List<Gateway> startTogether(List<Supplier<Gateway>> starts) {
    // Not in the common pool: it has one thread where there are two processors.
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      return starts.stream()
          .map(each -> CompletableFuture.supplyAsync(each, threads))
          .toList()
          .stream()
          .map(CompletableFuture::join)
          .toList();
    }
  }

  /**
   * Starts a gateway in a JVM with options of its own, such as {@code -Xmx128m}.
   *
   * @param settings configuration keys and values
   */
  public static Gateway start(Map<String, String> settings, String... options) {
    return start(PackagedProgram.command(options(settings, options), List.of()));
  }

  /**
   * Starts a gateway of any build, without the cache for short runs.
   *
   * @param program the {@code quarkus-run.jar} of the build, or a native executable
   */
  public static Gateway start(Path program, Map<String, String> settings, String... options) {
    return start(
        PackagedProgram.command(program, List.of(), options(settings, options), List.of()));
  }

  /**
   * Starts a gateway of any build, set up for a process that lives for seconds.
   *
   * @param jar the {@code quarkus-run.jar} of the build
   */
  public static Gateway startBuild(Path jar, Map<String, String> settings) {
    return start(jar, settings, PackagedProgram.shortLived("-Xmx512m").toArray(String[]::new));
  }

  private static Gateway start(List<String> command) {
    return start(Host.LOCAL, command);
  }

  private static Gateway start(Host host, List<String> command) {
    return new Gateway(host, ServerProcess.start(new ProcessBuilder(host.command(command)), READY));
  }

  private static List<String> options(Map<String, String> settings, String... options) {
    List<String> all = new ArrayList<>(List.of(options));
    all.add("-Dquarkus.http.port=0");
    settings.forEach((key, value) -> all.add("-D" + key + "=" + value));
    return all;
  }

  /** The URL of the default upstream. */
  public URI url() {
    return url("/mcp");
  }

  /** The URL of a path. Those below {@code /q/} have a port of their own. */
  public URI url(String path) {
    int port = path.startsWith("/q/") ? managementPort() : server.port();
    return host.url(port, path);
  }

  /** The page at a path, such as {@code /q/metrics}. */
  public HttpResponse<String> get(String path) {
    return McpClient.send(HttpRequest.newBuilder(url(path)).build(), BodyHandlers.ofString());
  }

  /**
   * The sum of the samples of a metric; empty if there is none.
   *
   * @param sample the beginning of their lines, such as the name and a space
   */
  public OptionalDouble metric(String sample) {
    double[] values =
        get("/q/metrics")
            .body()
            .lines()
            .filter(line -> line.startsWith(sample))
            .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
            .toArray();
    return values.length == 0
        ? OptionalDouble.empty()
        : OptionalDouble.of(DoubleStream.of(values).sum());
  }

  /** The line that names the port names this one, too. Earlier builds have no such port. */
  private int managementPort() {
    Matcher line = MANAGEMENT.matcher(server.output());
    return line.find() ? Integer.parseInt(line.group(1)) : server.port();
  }

  /** Whether it says that it is ready; not, while it cannot be asked. */
  public boolean isReady() {
    try {
      var connection = (HttpURLConnection) url("/q/health/ready").toURL().openConnection();
      try {
        return connection.getResponseCode() == 200;
      } finally {
        connection.disconnect();
      }
    } catch (IOException away) {
      return false;
    }
  }

  /** All that the gateway has logged so far, for the messages of failing tests. */
  public String output() {
    return server.output();
  }

  /** The process id. */
  public long pid() {
    return server.process().pid();
  }

  /** Ends the gateway without warning, as SIGKILL does, and returns when it is gone. */
  public void kill() {
    server.close();
  }

  /** Stops the gateway in its tracks: connections stay open and nothing is answered. */
  public void freeze() {
    ServerProcess.freeze(server.process().toHandle());
  }

  /** Lets a frozen one go on. */
  public void thaw() {
    ServerProcess.thaw(server.process().toHandle());
  }

  /** The processes that it has started, such as its servers over stdio. */
  public List<ProcessHandle> children() {
    return server.process().descendants().toList();
  }

  /** Asks the gateway to end, as Kubernetes does with SIGTERM. Returns at once. */
  public void terminate() {
    server.process().destroy();
  }

  /** Waits for the end of a gateway that was asked to. */
  public boolean awaitEnd(long seconds) throws InterruptedException {
    return server.process().waitFor(seconds, TimeUnit.SECONDS);
  }

  /** The exit code of a gateway that has ended. */
  public int exitCode() {
    return server.process().exitValue();
  }

  /** Ends the gateway, if it still runs. */
  @Override
  public void close() {
    server.close();
  }
}
