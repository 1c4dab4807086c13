package dev.holdfast.deploy;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServicePort;
import io.fabric8.kubernetes.api.model.gatewayapi.v1.HTTPRoute;
import io.fabric8.kubernetes.api.model.gatewayapi.v1.HTTPRouteRule;
import io.fabric8.kubernetes.api.model.networking.v1.HTTPIngressPath;
import io.fabric8.kubernetes.api.model.networking.v1.Ingress;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyEgressRule;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyIngressRule;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyPort;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** Everything that must connect can connect, and nothing else. */
final class NetworkChecks {

  private static final Pattern ENDPOINT =
      Pattern.compile("(?m)^\\| .*`(?:GET|POST)`.* \\| .* \\|$");
  private static final Pattern FIRST_SEGMENT = Pattern.compile("`(/\\w+)");

  private static final Map<String, Integer> DEFAULT_PORTS =
      Map.of("http", 80, "https", 443, "redis", 6379, "rediss", 6379);

  private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");

  private NetworkChecks() {}

  /** The policy lets through clients, monitoring, the DNS, Redis and the upstreams. */
  static List<String> policy(RenderedChart chart) {
    List<String> problems = new ArrayList<>();
    String name = chart.deployment().getMetadata().getName();
    NetworkPolicy policy =
        chart.all(NetworkPolicy.class).stream()
            .filter(each -> each.getMetadata().getName().equals(name))
            .findFirst()
            .orElse(null);
    if (policy == null) {
      return List.of("no policy");
    }
    List<NetworkPolicyIngressRule> in = policy.getSpec().getIngress();
    for (NetworkPolicyIngressRule rule : in) {
      boolean monitoring = ports(rule.getPorts()).contains("management");
      JsonNode peers =
          chart.values().at("/networkPolicy/" + (monitoring ? "monitoring" : "clients"));
      if (rule.getFrom().isEmpty() != peers.isEmpty()) {
        problems.add("lets in " + rule);
      }
    }
    // Nobody may read health and metrics by default. Those who publish the console let clients in.
    compare(
        problems,
        "lets in",
        ports(in),
        !chart.values().at("/networkPolicy/monitoring").isEmpty()
                || (chart.values().at("/console/ingress/enabled").asBoolean()
                    && !chart.values().at("/config/operators.port").asText().equals("main"))
            ? Set.of("http", "management")
            : Set.of("http"));
    List<NetworkPolicyEgressRule> out = new ArrayList<>(policy.getSpec().getEgress());
    int more = chart.values().at("/networkPolicy/extraEgress").size();
    Set<String> expected = expectedEgress(chart);
    if (out.removeIf(rule -> rule.getPorts().isEmpty() && rule.getTo().size() == 1)) {
      expected.add("any port of a pod");
    }
    compare(
        problems,
        "lets out",
        portsOut(out.subList(0, out.size() - more)),
        withPods(chart, expected));
    return problems;
  }

  private static Set<String> withPods(RenderedChart chart, Set<String> expected) {
    Set<String> adjusted = new TreeSet<>(expected);
    boolean allowed = adjusted.remove("any port of a pod");
    Stream<URI> servers =
        chart.values().at("/networkPolicy/upstreamPorts").isEmpty()
            ? Stream.concat(upstreams(chart).stream(), issuers(chart).stream())
            : issuers(chart).stream();
    boolean wanted = servers.map(URI::getHost).anyMatch(NetworkChecks::maybeService);
    if (allowed != wanted) {
      adjusted.add("any port of a pod: " + wanted);
    }
    return adjusted;
  }

  /** A name such as server, server.namespace or server.namespace.svc.cluster.local. */
  private static boolean maybeService(String host) {
    return host.split("\\.", -1).length < 3 || host.contains(".svc.") || host.endsWith(".svc");
  }

  private static Set<String> expectedEgress(RenderedChart chart) {
    Set<String> expected = new TreeSet<>(Set.of("53", "53/UDP"));
    JsonNode redisPorts = chart.values().at("/networkPolicy/redisPorts");
    String hosts = chart.settings().getOrDefault("quarkus.redis.hosts", "");
    if (!redisPorts.isEmpty()) {
      redisPorts.forEach(port -> expected.add(port.asText()));
    } else if (!hosts.isEmpty()) {
      for (String host : hosts.replaceAll("\\$\\{\\w+}", "x").split(",", -1)) {
        expected.add(port(URI.create(host)));
      }
      if ("sentinel".equals(chart.settings().get("quarkus.redis.client-type"))) {
        expected.add("6379");
      }
    }
    JsonNode upstreamPorts = chart.values().at("/networkPolicy/upstreamPorts");
    upstreamPorts.forEach(port -> expected.add(port.asText()));
    if (upstreamPorts.isEmpty()) {
      upstreams(chart).forEach(url -> expected.add(port(url)));
    }
    issuers(chart).forEach(url -> expected.add(port(url)));
    String traces = chart.settings().get("holdfast.trace.endpoint");
    if (traces != null) {
      expected.add(port(URI.create(traces)));
    }
    return expected;
  }

  /** The upstreams outside of the pod. */
  private static List<URI> upstreams(RenderedChart chart) {
    Stream<String> own =
        chart.settings().entrySet().stream()
            .filter(each -> each.getKey().matches("holdfast\\.upstreams?\\.(.+\\.)?url"))
            .map(Map.Entry::getValue);
    Stream<String> ofClients =
        StreamSupport.stream(chart.values().path("mcpServers").spliterator(), false)
            .filter(server -> !server.path("disabled").asBoolean() && server.has("url"))
            .map(server -> server.get("url").asText());
    return Stream.concat(own, ofClients)
        .map(URI::create)
        .filter(url -> !LOOPBACK.contains(url.getHost()))
        .toList();
  }

  /** Who is asked about tokens of clients, or for own ones. */
  private static List<URI> issuers(RenderedChart chart) {
    return chart.settings().entrySet().stream()
        .filter(each ->
            each.getKey().matches("holdfast\\.auth\\.issuers\\.\\w+\\.(url|.*endpoint)")
                || each.getKey().endsWith(".token.endpoint"))
        .map(each -> URI.create(each.getValue()))
        .filter(url -> !LOOPBACK.contains(url.getHost()))
        .toList();
  }

  private static String port(URI url) {
    return String.valueOf(
        url.getPort() > 0 ? url.getPort() : DEFAULT_PORTS.getOrDefault(url.getScheme(), -1));
  }

  private static Set<String> ports(List<NetworkPolicyIngressRule> rules) {
    return rules.stream()
        .flatMap(rule -> ports(rule.getPorts()).stream())
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static Set<String> portsOut(List<NetworkPolicyEgressRule> rules) {
    Set<String> ports = new TreeSet<>();
    for (NetworkPolicyEgressRule rule : rules) {
      ports.addAll(rule.getPorts().isEmpty() ? Set.of("every port") : egress(rule.getPorts()));
    }
    return ports;
  }

  private static Set<String> egress(List<NetworkPolicyPort> ports) {
    return new HashSet<>(
        ports.stream()
            .map(each ->
                each.getPort().getValue() + (each.getProtocol().equals("UDP") ? "/UDP" : ""))
            .toList());
  }

  private static Set<String> ports(Iterable<NetworkPolicyPort> ports) {
    Set<String> names = new TreeSet<>();
    ports.forEach(each -> names.add(String.valueOf(each.getPort().getValue())));
    return names;
  }

  private static void compare(
      List<String> problems, String what, Set<String> found, Set<String> expected) {
    if (!found.equals(expected)) {
      problems.add(what + " " + found + ", expected " + expected);
    }
  }

  private static String consoleUrl(RenderedChart chart) {
    return chart.values().path("config").path("operators.console-url").asText();
  }

  /**
   * Ingress and HTTPRoute lead to the Service, with the paths of clients and no others. The Ingress
   * of the console has its path.
   */
  static List<String> routes(RenderedChart chart) {
    List<String> problems = new ArrayList<>();
    Set<String> services = new TreeSet<>();
    for (Service service : chart.all(Service.class)) {
      for (ServicePort port : service.getSpec().getPorts()) {
        services.add(service.getMetadata().getName() + ":" + port.getName());
        services.add(service.getMetadata().getName() + ":" + port.getPort());
      }
    }
    Set<String> endpoints = endpoints();
    for (Ingress ingress : chart.all(Ingress.class)) {
      for (var rule : ingress.getSpec().getRules()) {
        List<HTTPIngressPath> paths = rule.getHttp().getPaths();
        compare(
            problems,
            "paths",
            set(paths.stream().map(HTTPIngressPath::getPath).toList()),
            ingress.getMetadata().getName().endsWith("-console")
                ? Set.of(URI.create(consoleUrl(chart)).getPath())
                : endpoints);
        for (HTTPIngressPath path : paths) {
          var backend = path.getBackend().getService();
          require(problems, services, backend.getName() + ":" + backend.getPort().getName());
        }
      }
    }
    for (HTTPRoute route : chart.all(HTTPRoute.class)) {
      for (HTTPRouteRule rule : route.getSpec().getRules()) {
        compare(
            problems,
            "paths",
            set(rule.getMatches().stream().map(match -> match.getPath().getValue()).toList()),
            endpoints);
        rule.getBackendRefs()
            .forEach(backend ->
                require(problems, services, backend.getName() + ":" + backend.getPort()));
        if (!"0s".equals(rule.getTimeouts().getRequest())) {
          problems.add("cuts long streams");
        }
      }
    }
    return problems;
  }

  private static void require(List<String> problems, Set<String> services, String backend) {
    if (!services.contains(backend)) {
      problems.add("no service " + backend);
    }
  }

  private static Set<String> set(List<String> items) {
    return new TreeSet<>(items);
  }

  /** The first segments of the paths of clients, as docs/http.md has them. */
  private static Set<String> endpoints() {
    try {
      return ENDPOINT
          .matcher(Files.readString(Path.of("docs", "http.md")))
          .results()
          .flatMap(row -> FIRST_SEGMENT.matcher(row.group()).results())
          .map(match -> match.group(1))
          .filter(path -> !path.equals("/health"))
          .collect(Collectors.toCollection(TreeSet::new));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
