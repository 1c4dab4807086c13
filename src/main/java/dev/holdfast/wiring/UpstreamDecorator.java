package dev.holdfast.wiring;

import dev.holdfast.audit.AuditLog;
import dev.holdfast.budget.ByteBudget;
import dev.holdfast.cli.ProcessMode;
import dev.holdfast.console.fleet.Peers;
import dev.holdfast.era.south.EraUpstream;
import dev.holdfast.http.limit.LimitsConfig;
import dev.holdfast.intercept.InterceptedMessage;
import dev.holdfast.intercept.InterceptedUpstream;
import dev.holdfast.intercept.Interceptor;
import dev.holdfast.observe.Metrics;
import dev.holdfast.record.Recorder;
import dev.holdfast.record.SessionTapes;
import dev.holdfast.record.TapeDirectory;
import dev.holdfast.upstream.ObservedUpstream;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamMonitor;
import dev.holdfast.upstream.UpstreamObserver;
import dev.holdfast.upstream.stdio.CommandLine;
import dev.holdfast.wiring.config.CheckedConfig;
import dev.holdfast.wiring.config.GatewayConfig;
import dev.holdfast.wiring.config.UpstreamFactory;
import io.quarkus.arc.All;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Puts around upstreams what watches, measures, traces, changes and records their messages. */
@Singleton
final class UpstreamDecorator {

  /** Looks whether the servers are up. */
  @Produces final UpstreamMonitor monitor = new UpstreamMonitor();

  /** Servers and clients, for the console. */
  @Produces final Peers peers = new Peers(EraUpstream::translates);

  /** Bytes of requests that interceptors of all upstreams see again with their responses. */
  private final ByteBudget kept;

  private final boolean isShown;
  private final GatewayConfig.Tapes tapes;
  private final List<Interceptor> own;
  private final TraceProducer traces;
  private final AuditLog audit;
  private final Metrics metrics;
  private final InstantSource clock;
  private final boolean hasClients;

  /** By the directory of their tapes. */
  private final Map<Path, Recorder> recorders = new ConcurrentHashMap<>();

  UpstreamDecorator(
      CheckedConfig checked,
      LimitsConfig limits,
      @All List<Interceptor> own,
      TraceProducer traces,
      AuditLog audit,
      Metrics metrics,
      InstantSource clock,
      ProcessMode mode) {
    isShown = checked.gateway().console() != GatewayConfig.Console.OFF;
    tapes = checked.gateway().record();
    long largest = limits.messageBytes().value();
    kept = new ByteBudget(Math.max(Runtime.getRuntime().maxMemory() / 16, 2 * largest));
    this.own = own;
    this.traces = traces;
    this.audit = audit;
    this.metrics = metrics;
    this.clock = clock;
    hasClients = mode.hasClients();
  }

  /**
   * Decorates an upstream.
   *
   * @param server its configuration; null for agents
   * @param processes counts the processes of all upstreams with the name
   */
  Upstream decorated(
      String name,
      GatewayConfig.@Nullable Server server,
      Upstream upstream,
      Supplier<Upstream.ProcessCount> processes) {
    List<UpstreamObserver> observers = new ArrayList<>();
    // Local tools, and agents, are always there.
    if (hasClients
        && server != null
        && (server.url().isPresent() || server.command().isPresent())) {
      observers.add(monitor.watch(name, () -> problem(server)));
    }
    observers.add(metrics.ofUpstream(name, monitor, processes));
    if (hasClients && isShown) {
      observers.add(peers.of(name, link -> upstream.placement(link).transport()));
    }
    traces.ofUpstream(name).ifPresent(observers::add);
    Upstream intercepted =
        InterceptedUpstream.of(
            ObservedUpstream.of(upstream, observers),
            name,
            UpstreamFactory.interceptors(server, own, this::toolDenied),
            kept);
    // Last, so that tapes have what clients send and get.
    return ObservedUpstream.of(intercepted, hasClients ? tapes(name, server) : List.of());
  }

  /** Looks for a server without a message: each session begins with the client's own. */
  private static Optional<String> problem(GatewayConfig.Server server) {
    return server
        .url()
        .map(UpstreamMonitor::connect)
        .orElseGet(() ->
            CommandLine.missingProgram(
                    server.command().orElse(""), server.directory().orElse(Path.of("")))
                .map(program ->
                    "no program "
                        + program
                        + ": install it, or give its whole path in the command"));
  }

  private void toolDenied(InterceptedMessage call, String reason) {
    audit.toolDenied(call.principal(), call.upstream(), call.session(), call.tool(), reason);
  }

  /** The tapes of the upstream, if it has a directory for them. */
  private List<UpstreamObserver> tapes(String name, GatewayConfig.@Nullable Server server) {
    Optional<Path> directory = server == null ? Optional.empty() : server.recordDir();
    return directory
        .or(tapes::dir)
        .map(path -> recorders.computeIfAbsent(path.toAbsolutePath().normalize(), this::recorder))
        .<UpstreamObserver>map(recorder -> new SessionTapes(name, recorder))
        .stream()
        .toList();
  }

  private Recorder recorder(Path directory) {
    return new Recorder(
        new TapeDirectory(
            directory, tapes.fileBytes().asLongValue(), tapes.maxBytes().asLongValue()),
        clock);
  }

  /** Stops watching and measuring an upstream that was removed. */
  void forget(String name) {
    monitor.forget(name);
    metrics.forget(name);
  }

  /** Ends the tapes, after the upstreams. */
  void close() {
    recorders.values().forEach(Recorder::close);
  }
}
