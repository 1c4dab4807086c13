package dev.holdfast.wiring.start;

import dev.holdfast.cli.ProcessMode;
import dev.holdfast.config.ConfigFile;
import dev.holdfast.config.ConfigOrigin;
import dev.holdfast.config.InvalidFileException;
import dev.holdfast.http.limit.LimitsConfig;
import dev.holdfast.relay.session.SessionUpstreams;
import dev.holdfast.session.SessionStoreException;
import dev.holdfast.wiring.ConfiguredUpstreams;
import dev.holdfast.wiring.config.CheckedConfig;
import dev.holdfast.wiring.config.GatewayConfig;
import dev.holdfast.wiring.config.StartFailure;
import dev.holdfast.wiring.config.UnknownVariables;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import io.quarkus.runtime.configuration.ConfigurationException;
import io.smallrye.config.ConfigValidationException;
import io.smallrye.config.SmallRyeConfig;
import io.smallrye.config.SmallRyeConfigBuilder;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.eclipse.microprofile.config.spi.ConfigSource;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Applies changes of the configuration file while the gateway runs: upstreams, and those limits
 * that can change. It compares the text of the file, so it also notices a file that is replaced, or
 * reached by another link, as in a ConfigMap. A file with an error changes nothing.
 */
@Singleton
final class ConfigReload {

  private static final Logger LOG = Logger.getLogger(ConfigReload.class);

  private static final Duration INTERVAL = Duration.ofSeconds(2);

  /** Looks between two searches for servers without sessions. */
  private static final int LOOKS_PER_SEARCH = 30;

  /** Keys of limits that a reload changes. Others need a restart. */
  private static final Set<String> LIMITS =
      Set.of(
          "holdfast.limits.connections",
          "holdfast.limits.connections-per-address",
          "holdfast.limits.requests",
          "holdfast.limits.requests-per-address",
          "holdfast.limits.requests-per-second",
          "holdfast.limits.sessions",
          "holdfast.limits.sessions-per-address");

  private final ConfiguredUpstreams upstreams;
  private final SessionUpstreams links;
  private final StartReport report;
  private final Thread thread;

  /** The configuration at the start, whose other keys stay in force. */
  private final SmallRyeConfig started;

  /** Null without a configuration file. */
  private final @Nullable ConfigFile startFile;

  // Only the thread uses these.
  private SmallRyeConfig config;
  private Optional<String> latest;
  private Optional<String> decided;

  ConfigReload(
      SmallRyeConfig config,
      ConfiguredUpstreams upstreams,
      SessionUpstreams links,
      StartReport report,
      ProcessMode mode) {
    this.started = config;
    this.config = config;
    this.upstreams = upstreams;
    this.links = links;
    this.report = report;
    startFile = mode.serves() ? file(config) : null;
    latest = Optional.ofNullable(startFile).map(ConfigFile::text);
    decided = latest;
    thread = Thread.ofVirtual().name("configuration file").unstarted(this::run);
  }

  private static @Nullable ConfigFile file(SmallRyeConfig config) {
    for (ConfigSource source : config.getConfigSources(ConfigFile.class)) {
      return (ConfigFile) source;
    }
    return null;
  }

  void start(@Observes StartupEvent event) {
    if (startFile != null) {
      thread.start();
    }
  }

  void stop(@Observes ShutdownEvent event) {
    thread.interrupt();
  }

  private void run() {
    try {
      for (int looks = 1; startFile != null; looks++) {
        Thread.sleep(INTERVAL);
        look(startFile);
        if (looks % LOOKS_PER_SEARCH == 0) {
          closeUnused();
        }
      }
    } catch (InterruptedException stopped) {
      LOG.debug("stopped");
    }
  }

  private void closeUnused() {
    try {
      upstreams.closeUnused(links);
    } catch (SessionStoreException away) {
      LOG.debugf("unused servers are closed later: %s", away.getMessage());
    }
  }

  /** A text counts when two looks have found it: editors do not write a file at once. */
  private void look(ConfigFile file) {
    Path path = file.path();
    Optional<String> text = read(path);
    if (text.equals(decided) || !text.equals(latest)) {
      latest = text;
      return;
    }
    decided = text;
    try {
      String found = text.isPresent() ? text.get() : ConfigFile.readText(path);
      load(ConfigFile.parse(path, found));
    } catch (InvalidFileException invalid) {
      refused(path, invalid.getMessage());
    } catch (RuntimeException failure) {
      LOG.errorf(failure, "configuration file not applied completely file=%s", path);
    }
  }

  private static Optional<String> read(Path path) {
    try {
      return Optional.of(ConfigFile.readText(path));
    } catch (InvalidFileException unreadable) {
      return Optional.empty();
    }
  }

  private static void refused(Path path, @Nullable String reason) {
    LOG.warnf("configuration file not reloaded file=%s reason=%s", path, reason);
  }

  private void load(ConfigFile file) {
    SmallRyeConfig next;
    ConfiguredUpstreams.Changes changes;
    try {
      next = with(file, true);
      CheckedConfig _ = new CheckedConfig(next);
      file.warnings().forEach(LOG::warn);
      changes =
          upstreams.update(
              config.getConfigMapping(GatewayConfig.class).allUpstreams().keySet(),
              next.getConfigMapping(GatewayConfig.class).allUpstreams(),
              differing(next),
              next.getConfigMapping(LimitsConfig.class));
    } catch (ConfigValidationException | ConfigurationException invalid) {
      List<String> lines = StartFailure.lines(invalid, with(file, false), List::of);
      refused(file.path(), String.join("; ", lines));
      return;
    }
    report.reportUrls(changes.added()::contains);
    LOG.infof("configuration file reloaded %s", describe(changes, file, next));
    config = next;
  }

  /** The names of upstreams of which a key has another value. */
  private Set<String> differing(SmallRyeConfig next) {
    return Stream.of(config, next)
        .flatMap(ConfigOrigin::keys)
        .filter(key -> !isSame(key, config, next))
        .flatMap(key -> Stream.ofNullable(ConfiguredUpstreams.ofKey(key)))
        .collect(Collectors.toSet());
  }

  /** The configuration with another file, from the same environment and system properties. */
  private SmallRyeConfig with(ConfigFile file, boolean typed) {
    SmallRyeConfigBuilder builder =
        new SmallRyeConfigBuilder()
            .addDefaultInterceptors()
            .addDiscoveredConverters()
            .withProfiles(started.getProfiles());
    for (ConfigSource source : started.getConfigSources()) {
      if (!(source instanceof ConfigFile)) {
        builder.withSources(source);
      }
    }
    builder.withSources(file);
    if (typed) {
      UnknownVariables.MAPPINGS.forEach(builder::withMapping);
    }
    return builder.build();
  }

  /** Says what has changed. Values of limits only: others may be secrets. */
  private String describe(
      ConfiguredUpstreams.Changes changes, ConfigFile file, SmallRyeConfig next) {
    List<String> limits =
        LIMITS.stream()
            .filter(key -> !isSame(key, config, next))
            .map(key ->
                key.substring("holdfast.limits.".length())
                    + "="
                    + next.getConfigValue(key).getValue())
            .sorted()
            .toList();
    Map<String, List<String>> all = new LinkedHashMap<>();
    all.put("added", changes.added());
    all.put("removed", changes.removed());
    all.put("changed", changes.changed());
    all.put("limits", limits);
    all.put("restart-needed-for", restartNeeded(file, next));
    all.values().removeIf(List::isEmpty);
    return all.isEmpty()
        ? "changes=none"
        : all.entrySet().stream()
            .map(each -> each.getKey() + "=" + each.getValue())
            .collect(Collectors.joining(" "));
  }

  /** The program's own keys of the file that have another value than the one in force. */
  private List<String> restartNeeded(ConfigFile file, SmallRyeConfig next) {
    Map<String, GatewayConfig.Server> servers =
        next.getConfigMapping(GatewayConfig.class).allUpstreams();
    Set<String> keys = new TreeSet<>(file.getPropertyNames());
    if (startFile != null) {
      keys.addAll(startFile.getPropertyNames());
    }
    return keys.stream()
        .filter(key -> key.startsWith("holdfast.") && !LIMITS.contains(key))
        .filter(key -> !isReplaceable(ConfiguredUpstreams.ofKey(key), servers))
        .filter(key -> !isSame(key, started, next))
        .toList();
  }

  private boolean isReplaceable(
      @Nullable String upstream, Map<String, GatewayConfig.Server> servers) {
    GatewayConfig.Server next = upstream == null ? null : servers.get(upstream);
    return upstream != null && (next == null || upstreams.isReplaceable(upstream, next));
  }

  private static boolean isSame(String key, SmallRyeConfig one, SmallRyeConfig other) {
    return Objects.equals(one.getConfigValue(key).getValue(), other.getConfigValue(key).getValue());
  }
}
