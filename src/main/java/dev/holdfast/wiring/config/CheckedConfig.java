package dev.holdfast.wiring.config;

import dev.holdfast.agent.AgentUpstream;
import dev.holdfast.auth.AccessKeys;
import dev.holdfast.auth.AuthConfig;
import dev.holdfast.auth.RequiredScopes;
import dev.holdfast.call.Endpoint;
import dev.holdfast.clients.KnownClient;
import dev.holdfast.cluster.ClusterConfig;
import dev.holdfast.config.ConfigErrors;
import dev.holdfast.config.ConfigOrigin;
import dev.holdfast.console.access.OperatorsConfig;
import dev.holdfast.http.limit.LimitsConfig;
import dev.holdfast.http.origin.HttpConfig;
import dev.holdfast.text.Urls;
import dev.holdfast.trace.TraceConfig;
import io.quarkus.runtime.configuration.ConfigurationException;
import io.smallrye.config.SmallRyeConfig;
import jakarta.inject.Singleton;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The configuration, after a check of the rules that concern more than one value. */
@Singleton
public final class CheckedConfig {

  private static final int MAX_PORT = 65_535;
  private static final long MIN_TAPES = 8192;
  private static final String DEFAULT_REDIS = "redis://127.0.0.1:6379";

  private static final Pattern CERTIFICATE_FILES =
      Pattern.compile("quarkus\\.tls\\..+\\.(pem\\..*(cert|key)|pem\\.certs.*|(p12|jks)\\.path)");

  /** First words after the key in a problem. */
  private static final Pattern VERB = Pattern.compile(" (is|must|has|cannot|names|ends|does) ");

  private final SmallRyeConfig config;
  private final GatewayConfig gateway;
  private final AuthConfig auth;
  private final List<String> problems = new ArrayList<>();

  /** Throws {@link ConfigurationException} with a line for each problem. */
  public CheckedConfig(SmallRyeConfig config) {
    this.config = config;
    gateway = mapping(GatewayConfig.class);
    auth = mapping(AuthConfig.class);
    problems.addAll(new ConfigErrors(UnknownVariables.KEYS, config).outOfRange());
    refuseProblems(); // The checks below rely on the ranges.
    checkPorts();
    checkClientAuth();
    checkCertificateFiles();
    checkRedis();
    checkUpstreams(UpstreamFactory.ofChecks(mapping(LimitsConfig.class)));
    checkTraces(mapping(TraceConfig.class));
    checkTapes();
    new ViewChecks(gateway, this::problem, this::checkScope).check();
    gateway.clients().forEach(this::checkClient);
    ClusterConfig cluster = mapping(ClusterConfig.class);
    if (cluster.deadAfter().compareTo(cluster.heartbeat().multipliedBy(2)) < 0) {
      tooSmall("holdfast.cluster.dead-after", "twice ", "holdfast.cluster.heartbeat");
    }
    checkKeys();
    checkIssuers();
    new OperatorsCheck(gateway, mapping(OperatorsConfig.class), auth)
        .problems()
        .forEach(this::problem);
    refuseProblems();
  }

  private void refuseProblems() {
    if (!problems.isEmpty()) {
      throw new ConfigurationException(String.join("\n", problems));
    }
  }

  /** Returns the configuration of stores and upstreams. */
  public GatewayConfig gateway() {
    return gateway;
  }

  /** Returns another part of the configuration. */
  public <T> T mapping(Class<T> type) {
    return config.getConfigMapping(type);
  }

  private String named(String key) {
    return ConfigOrigin.named(config, key);
  }

  private void problem(String key, String text) {
    problems.add(named(key) + " " + text);
  }

  private void checkPorts() {
    List<String> keys = List.of("quarkus.http.port", "quarkus.management.port");
    List<Integer> ports =
        keys.stream().map(key -> config.getOptionalValue(key, Integer.class).orElse(0)).toList();
    for (int i = 0; i < keys.size(); i++) {
      if (ports.get(i) < 0 || ports.get(i) > MAX_PORT) {
        problem(keys.get(i), "must be 0 to 65535, such as 8080, not " + ports.get(i));
      }
    }
    if (ports.getFirst() > 0 && ports.getFirst().equals(ports.getLast())) {
      problems.add(
          "%s and %s are both %d: set another port for one of them"
              .formatted(named(keys.getFirst()), named(keys.getLast()), ports.getFirst()));
    }
    String insecure = "quarkus.http.insecure-requests";
    String withoutTls = config.getConfigValue(insecure).getValue();
    if ("redirect".equalsIgnoreCase(withoutTls)) {
      problem(
          insecure,
          "must be enabled or disabled: a redirect would lead to whatever host a request names");
    }
    if (mapping(HttpConfig.class).requireClientCertificate()
        && !"disabled".equalsIgnoreCase(withoutTls)) {
      problem(
          "holdfast.http.require-client-certificate",
          "needs quarkus.http.insecure-requests=disabled, because clients without a certificate"
              + " could use the port without TLS");
    }
  }

  /** The framework reads these keys when the program is built, and only warns later. */
  private void checkClientAuth() {
    Map.of(
            "quarkus.http.ssl.client-auth",
            "has no effect: set holdfast.http.require-client-certificate=true instead",
            "quarkus.management.ssl.client-auth",
            "has no effect: remove it, and let quarkus.management.host be an address that only your"
                + " network reaches")
        .forEach((key, problem) ->
            ConfigOrigin.ofFixed(config, key)
                .ifPresent(origin -> problems.add("%s (%s) %s".formatted(key, origin, problem))));
  }

  /** The framework does not start without these files, and names no key. */
  private void checkCertificateFiles() {
    ConfigOrigin.keys(config)
        .filter(key -> CERTIFICATE_FILES.matcher(key).matches())
        .sorted()
        .forEach(key -> {
          String files = String.valueOf(config.getConfigValue(key).getValue());
          Stream.of(files.split(","))
              .map(String::strip)
              .filter(file -> !Files.isReadable(Path.of(file)))
              .forEach(file ->
                  problem(key, "names a file that does not exist or cannot be read: " + file));
        });
  }

  private void checkRedis() {
    String key = "quarkus.redis.hosts";
    boolean valid =
        Stream.of(config.getOptionalValue(key, String.class).orElse(DEFAULT_REDIS).split(","))
            .allMatch(url -> isUrl(url.strip(), "redis", "rediss"));
    if (!valid) {
      problem(key, "must be URLs that begin with redis:// or rediss://, such as " + DEFAULT_REDIS);
    }
  }

  private static boolean isUrl(String text, String... schemes) {
    try {
      URI url = URI.create(text);
      String scheme = String.valueOf(url.getScheme()).toLowerCase(Locale.ROOT);
      return List.of(schemes).contains(scheme) && url.getHost() != null;
    } catch (IllegalArgumentException invalid) {
      return false;
    }
  }

  private void checkUpstreams(UpstreamFactory factory) {
    checkUpstream(factory, "holdfast.upstream.", Endpoint.DEFAULT_UPSTREAM, gateway.upstream());
    gateway
        .upstreams()
        .forEach((name, server) -> {
          String prefix = "holdfast.upstreams." + name + ".";
          String keys = prefix + "…" + origin(prefix);
          if (name.equals(Endpoint.DEFAULT_UPSTREAM)) {
            problems.add(keys + " is reserved: use holdfast.upstream.… for the server at /mcp");
          } else if (!Endpoint.isName(name)) {
            problems.add(
                keys
                    + ": the name of an upstream must be up to 64 letters, digits, dots, dashes"
                    + " and underscores, such as my-server");
          } else if (server.url().isEmpty() && server.command().isEmpty()) {
            problems.add(
                "%s has neither url nor command: set one, such as %surl=http://localhost:3000/mcp"
                    .formatted(keys, prefix));
          }
          checkUpstream(factory, prefix, name, server);
        });
    if (gateway.agent().command().isPresent()
        && gateway.upstreams().containsKey(AgentUpstream.NAME)) {
      problems.add(
          "holdfast.upstreams.agent.… and "
              + named("holdfast.agent.command")
              + " exclude each other: give the upstream another name");
    }
    factory
        .agentProblems(gateway.agent())
        .forEach(problem -> problems.add(located("holdfast.agent.", problem)));
  }

  /** Returns the origin of the first key with the prefix, in brackets. */
  private String origin(String prefix) {
    return ConfigOrigin.keys(config)
        .filter(key -> key.replace("\"", "").startsWith(prefix))
        .sorted()
        .findFirst()
        .map(key -> " (" + ConfigOrigin.of(config.getConfigValue(key)) + ")")
        .orElse("");
  }

  private void checkUpstream(
      UpstreamFactory factory, String prefix, String name, GatewayConfig.Server server) {
    checkScopes(prefix, server);
    checkWritable(prefix + "record-dir", server.recordDir());
    if (server.url().isPresent() && server.command().isPresent()) {
      problem(
          prefix + "url", "and " + named(prefix + "command") + " exclude each other: remove one");
      return;
    }
    String transport = prefix + "transport";
    if (server.transport() == GatewayConfig.Transport.STDIO && server.command().isEmpty()) {
      problem(
          transport,
          ("needs %scommand: set it, or set auto. To connect a client on stdin and stdout, run"
                  + " 'holdfast stdio'")
              .formatted(prefix));
    } else if (server.transport().isHttp() && server.url().isEmpty()) {
      problem(transport, "needs " + prefix + "url: set it, or set auto");
    }
    String needsUrl = "needs " + prefix + "url, because only %s: set it, or remove the other";
    if (server.forwardHeaders().isPresent() && server.url().isEmpty()) {
      problem(prefix + "forward-headers", needsUrl.formatted("servers over HTTP get headers"));
    }
    if (server.tls().isPresent() && server.url().isEmpty()) {
      problem(prefix + "tls", needsUrl.formatted("connections to a URL have TLS"));
    }
    factory.problems(name, server).forEach(problem -> problems.add(located(prefix, problem)));
  }

  /** Puts the key and its origin before a problem that begins with the end of the key. */
  private String located(String prefix, String problem) {
    Matcher verb = VERB.matcher(problem);
    int end = verb.find() ? verb.start() : problem.length();
    return named(prefix + problem.substring(0, end)) + problem.substring(end);
  }

  private void checkTls(Optional<String> tls, String prefix, String url, Optional<URI> value) {
    if (tls.isPresent() && value.filter(each -> isUrl(each.toString(), "https")).isEmpty()) {
      problem(
          prefix + "tls",
          "has no use unless %s%s begins with https://: remove it, or change the other"
              .formatted(prefix, url));
    }
  }

  private void checkTraces(TraceConfig trace) {
    checkTls(trace.tls(), "holdfast.trace.", "endpoint", trace.endpoint());
    if (trace.endpoint().filter(url -> !isUrl(url.toString(), "http", "https")).isPresent()) {
      problem(
          "holdfast.trace.endpoint",
          "must begin with http:// or https://, such as http://localhost:4318/v1/traces");
    }
  }

  private void checkClient(String name, KnownClient.Settings client) {
    if (client.userAgent().isEmpty() && client.clientInfo().isEmpty()) {
      String prefix = "holdfast.clients." + name + ".";
      problems.add(
          "%s…%s has neither user-agent nor client-info: set one, such as %sclient-info=my-agent/*"
              .formatted(prefix, origin(prefix), prefix));
    }
  }

  private void checkTapes() {
    long max = gateway.record().maxBytes().asLongValue();
    if (max < Math.max(MIN_TAPES, 2 * gateway.record().fileBytes().asLongValue())) {
      tooSmall("holdfast.record.max-bytes", "8K and twice ", "holdfast.record.file-bytes");
    }
    checkWritable("holdfast.record.dir", gateway.record().dir());
  }

  private void checkWritable(String key, Optional<Path> directory) {
    Path first = directory.map(Path::toAbsolutePath).orElse(null);
    Path existing = first;
    while (existing != null && !Files.exists(existing)) {
      existing = existing.getParent();
    }
    if (existing != null && !(Files.isDirectory(existing) && Files.isWritable(existing))) {
      problem(
          key,
          "is %s, but %s is no directory that Holdfast may write: change its rights, or the key"
              .formatted(first, existing));
    }
  }

  private void tooSmall(String key, String least, String other) {
    problem(key, "must be at least " + least + named(other) + ": raise it, or lower the other");
  }

  private void checkKeys() {
    try {
      AccessKeys _ = new AccessKeys(auth.keys());
    } catch (IllegalArgumentException invalid) {
      problems.add(located("holdfast.auth.keys.", String.valueOf(invalid.getMessage())));
    }
    gateway.agent().scope().ifPresent(scope -> checkScope("holdfast.agent.scope", scope));
  }

  private void checkScopes(String prefix, GatewayConfig.Server server) {
    if (server.authorization().needsClientToken() && auth.issuers().isEmpty()) {
      problem(
          prefix + "authorization",
          "needs holdfast.auth.issuers.<name>.url, because clients must show tokens: set it, or"
              + " remove the other");
    }
    server.scope().ifPresent(scope -> checkScope(prefix + "scope", scope));
    Set<String> scopes = server.toolScopes().keySet();
    scopes.forEach(scope -> checkScope(prefix + "tool-scopes." + scope, scope));
  }

  private void checkScope(String name, String scope) {
    if (!RequiredScopes.isScope(scope)) {
      problem(name, "must be a word without spaces, quotes and backslashes, such as files");
    } else if (auth.keys().isEmpty() && auth.issuers().isEmpty()) {
      problem(
          name,
          "needs holdfast.auth.keys.<name>.hash or holdfast.auth.issuers.<name>.url: make a key with"
              + " 'holdfast key'");
    }
  }

  private void checkIssuers() {
    auth.issuers()
        .forEach((name, issuer) -> {
          String prefix = "holdfast.auth.issuers." + name + ".";
          if (!isSafe(issuer.url())) {
            problem(
                prefix + "url",
                "must begin with https://, such as https://login.example.com; http:// is for this"
                    + " machine only");
          }
          checkTls(issuer.tls(), prefix, "url", Optional.of(issuer.url()));
          issuer
              .introspection()
              .flatMap(AuthConfig.Introspection::endpoint)
              .filter(endpoint -> !isSafe(endpoint))
              .ifPresent(_ ->
                  problem(
                      prefix + "introspection.endpoint",
                      "must begin with https://; http:// is for this machine only"));
        });
    String key = "holdfast.auth.public-url";
    URI url = auth.publicUrl().orElse(null);
    if (url == null) {
      auth.issuers().keySet().stream()
          .min(Comparator.naturalOrder())
          .ifPresent(name ->
              problem(
                  "holdfast.auth.issuers." + name + ".url",
                  "needs "
                      + key
                      + ": set it to where clients reach the gateway, such as"
                      + " https://mcp.example.com"));
    } else if (!isUrl(url.toString(), "http", "https")
        || !url.getPath().matches("/?")
        || url.getRawQuery() != null
        || url.getRawFragment() != null) {
      problem(key, "must be a URL without a path, such as https://mcp.example.com");
    }
  }

  /** Keys that come over http:// could be those of anybody on the way. */
  private static boolean isSafe(URI url) {
    return url.getRawFragment() == null
        && (isUrl(url.toString(), "https")
            || (isUrl(url.toString(), "http") && Urls.isLoopback(url.getHost())));
  }
}
