package dev.holdfast.deploy;

import dev.holdfast.config.ConfigFile;
import dev.holdfast.wiring.config.ConfigFixture;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.quarkus.redis.runtime.client.config.RedisConfig;
import io.quarkus.runtime.logging.LogRuntimeConfig;
import io.quarkus.runtime.shutdown.ShutdownConfig;
import io.quarkus.tls.runtime.config.TlsConfig;
import io.quarkus.vertx.http.runtime.VertxHttpConfig;
import io.quarkus.vertx.http.runtime.management.ManagementConfig;
import io.smallrye.config.ConfigMappings;
import io.smallrye.config.ConfigMappings.ConfigClass;
import io.smallrye.config.PropertyNamesMatcher;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The program accepts the configuration, and finds every secret. */
final class ConfigurationChecks {

  private static final Pattern REFERENCE = Pattern.compile("\\$\\{(\\w+)}");

  private static final PropertyNamesMatcher QUARKUS =
      ConfigMappings.propertyNamesMatcher(
          Stream.of(
                  VertxHttpConfig.class,
                  ManagementConfig.class,
                  RedisConfig.class,
                  TlsConfig.class,
                  ShutdownConfig.class,
                  LogRuntimeConfig.class)
              .<ConfigClass>map(ConfigClass::configClass)
              .toList());

  private ConfigurationChecks() {}

  /** Every key exists, and its value is valid. */
  static List<String> settings(RenderedChart chart) {
    List<String> problems = new ArrayList<>();
    Map<String, String> ours = new HashMap<>();
    chart
        .settings()
        .forEach((key, value) -> {
          if (key.startsWith("holdfast.")) {
            ours.put(key, REFERENCE.matcher(value).replaceAll("secret"));
          } else if (!key.equals("config_ordinal") && !QUARKUS.matches(key)) {
            problems.add("unknown key of Quarkus: " + key);
          }
        });
    try {
      ConfigFixture.by(ours);
      if (!chart.serversFile().isEmpty()) {
        ConfigFile _ = ConfigFile.parse(Path.of(RenderedChart.SERVERS), chart.serversFile());
      }
    } catch (RuntimeException refused) {
      problems.add(String.valueOf(refused.getMessage()));
    }
    return problems;
  }

  /** The variables with secrets are those that the configuration refers to. */
  static List<String> secrets(RenderedChart chart) {
    Set<String> needed =
        Stream.concat(chart.settings().values().stream(), Stream.of(chart.serversFile()))
            .flatMap(value -> REFERENCE.matcher(value).results())
            .map((MatchResult match) -> match.group(1))
            .collect(Collectors.toSet());
    Set<String> given =
        chart.gateway().getEnv().stream()
            .filter(each -> Objects.nonNull(each.getValueFrom()))
            .filter(each -> Objects.nonNull(each.getValueFrom().getSecretKeyRef()))
            .map(EnvVar::getName)
            .collect(Collectors.toSet());
    return needed.equals(given) ? List.of() : List.of("needs " + needed + ", has " + given);
  }
}
