package dev.holdfast.wiring.start;

import dev.holdfast.auth.AccessKeys;
import dev.holdfast.auth.AccessTokens;
import dev.holdfast.cli.ProcessMode;
import dev.holdfast.config.ConfigOrigin;
import dev.holdfast.console.GatewayInfo;
import dev.holdfast.console.access.Access;
import dev.holdfast.http.origin.HttpConfig;
import dev.holdfast.upstream.UpstreamMonitor;
import dev.holdfast.wiring.config.GatewayConfig;
import io.quarkus.runtime.StartupEvent;
import io.quarkus.vertx.http.HttpServer;
import io.quarkus.vertx.http.HttpServerStart;
import io.quarkus.vertx.http.HttpsServerStart;
import io.smallrye.config.SmallRyeConfig;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.event.ObservesAsync;
import jakarta.inject.Singleton;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Logs at the start what this gateway is: the URLs for clients, the store, whether the upstreams
 * are there, and what it refuses.
 */
@Singleton
final class StartReport {

  private static final Logger LOG = Logger.getLogger(StartReport.class);
  private static final String LIMITS = "holdfast.limits.";

  private final HttpServer server;
  private final SmallRyeConfig config;
  private final GatewayInfo info;
  private final Access console;

  /** The URL before the paths. */
  private volatile String root = "";

  StartReport(HttpServer server, SmallRyeConfig config, GatewayInfo info, Access console) {
    this.server = server;
    this.config = config;
    this.info = info;
    this.console = console;
  }

  void serving(@ObservesAsync HttpServerStart start) {
    reportUrls("http", start.options().getHost(), server.getPort());
    reportConsole();
  }

  void serving(@ObservesAsync HttpsServerStart start) {
    reportUrls("https", start.options().getHost(), server.getSecurePort());
  }

  /** The URLs without user names, passwords and parameters. */
  static String withoutSecrets(@Nullable String urls) {
    return urls == null
        ? "the default"
        : urls.replaceAll("://[^\\s,]*@", "://").replaceAll("\\?[^\\s,]*", "");
  }

  private static String base(String scheme, String host, int port) {
    return "%s://%s:%d".formatted(scheme, host.contains(":") ? "[" + host + "]" : host, port);
  }

  private void reportConsole() {
    if (console.url() != null) {
      LOG.infof("console url=%s", console.url());
      return;
    }
    // The management port may be opened later than the other, so a fixed number is taken as it is.
    int fixed = config.getValue("quarkus.management.port", int.class);
    int port = fixed > 0 ? fixed : server.getManagementPort();
    if (port > 0 && console.served()) {
      String host = config.getValue("quarkus.management.host", String.class);
      LOG.infof("console url=%s/", base("http", host, port));
    }
  }

  private void reportUrls(String scheme, String host, int port) {
    String root = base(scheme, host, port);
    this.root = root;
    reportUrls(_ -> true);
  }

  /** Reports where clients reach upstreams, once the gateway listens. */
  void reportUrls(Predicate<String> names) {
    for (GatewayInfo.Server each : info.servers().get()) {
      if (names.test(each.name())) {
        LOG.infof(
            "serving url=%s%s upstream=%s server=%s", root, each.path(), each.name(), each.kind());
      }
    }
  }

  void started(
      @Observes StartupEvent event,
      ProcessMode mode,
      AccessKeys keys,
      AccessTokens tokens,
      UpstreamMonitor upstreams) {
    if (!mode.serves()) {
      return;
    }
    switch (config.getConfigMapping(GatewayConfig.class).store()) {
      case MEMORY -> LOG.info("sessions and events are in memory, and lost at a restart");
      case REDIS ->
          LOG.infof(
              "sessions and events are in Redis servers=%s",
              withoutSecrets(config.getConfigValue("quarkus.redis.hosts").getValue()));
    }
    HttpConfig http = config.getConfigMapping(HttpConfig.class);
    if (!http.allowedHosts().contains("*")) {
      LOG.infof("requests are accepted only for these hosts allowed-hosts=%s", http.allowedHosts());
    }
    if (!http.allowedOrigins().contains("*")) {
      LOG.infof(
          "web pages are accepted only from these origins allowed-origins=%s",
          http.allowedOrigins());
    }
    if (keys.areRequired()) {
      LOG.infof("requests need a key owners=%s", keys.owners());
    }
    if (tokens.areAccepted()) {
      LOG.infof("requests need a token issuers=%s", tokens.issuers());
    }
    if (!keys.areRequired() && !tokens.areAccepted()) {
      LOG.info("requests need no key: everybody who reaches the port may use this gateway");
    }
    String limits = changedLimits();
    if (!limits.isEmpty()) {
      LOG.infof("limits set by the configuration %s", limits);
    }
    upstreams.look();
  }

  private String changedLimits() {
    return ConfigOrigin.keys(config)
        .filter(name -> name.startsWith(LIMITS))
        .map(config::getConfigValue)
        .filter(value -> value.getConfigSourceOrdinal() > Integer.MIN_VALUE)
        .map(value -> value.getName().substring(LIMITS.length()) + "=" + value.getValue())
        .sorted()
        .collect(Collectors.joining(" "));
  }
}
