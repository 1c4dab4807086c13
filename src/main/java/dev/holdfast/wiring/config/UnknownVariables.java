package dev.holdfast.wiring.config;

import dev.holdfast.auth.AuthConfig;
import dev.holdfast.cluster.ClusterConfig;
import dev.holdfast.config.ConfigFile;
import dev.holdfast.config.ConfigKeys;
import dev.holdfast.config.ConfigOrigin;
import dev.holdfast.console.access.OperatorsConfig;
import dev.holdfast.era.north.EraConfig;
import dev.holdfast.held.HeldConfig;
import dev.holdfast.http.limit.LimitsConfig;
import dev.holdfast.http.origin.HttpConfig;
import dev.holdfast.relay.stream.ReplayConfig;
import dev.holdfast.relay.stream.StoreFailureConfig;
import dev.holdfast.relay.stream.StreamConfig;
import dev.holdfast.session.SessionConfig;
import dev.holdfast.trace.TraceConfig;
import io.quarkus.runtime.StartupEvent;
import io.smallrye.config.ConfigMappings;
import io.smallrye.config.ConfigMappings.ConfigClass;
import io.smallrye.config.PropertyNamesMatcher;
import io.smallrye.config.SmallRyeConfig;
import jakarta.annotation.Priority;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.eclipse.microprofile.config.spi.ConfigSource;
import org.jboss.logging.Logger;

/**
 * Warns about {@code HOLDFAST_} variables in the environment, or in {@code .env}, that are not
 * configuration keys. In other sources, an unknown key fails the start.
 */
@Singleton
public final class UnknownVariables {

  /** The mappings of all keys under {@code holdfast}. */
  public static final List<Class<?>> MAPPINGS =
      List.of(
          GatewayConfig.class,
          StreamConfig.class,
          EraConfig.class,
          HeldConfig.class,
          ReplayConfig.class,
          StoreFailureConfig.class,
          SessionConfig.class,
          HttpConfig.class,
          LimitsConfig.class,
          ClusterConfig.class,
          TraceConfig.class,
          AuthConfig.class,
          OperatorsConfig.class);

  static final ConfigKeys KEYS = new ConfigKeys(MAPPINGS);

  private static final Logger LOG = Logger.getLogger(UnknownVariables.class);

  /** Variables that Kubernetes sets for services named holdfast or holdfast-something. */
  private static final Pattern SERVICE_LINK =
      Pattern.compile("holdfast\\.(.+\\.)?(service\\.(host|port.*)|port(\\[\\d+\\].+)?)");

  /** Runs before other observers, which may refuse the configuration. */
  void warn(@Observes @Priority(1) StartupEvent event, SmallRyeConfig config) {
    in(config).forEach(key -> LOG.warn(advice(key)));
    for (ConfigSource source : config.getConfigSources(ConfigFile.class)) {
      ((ConfigFile) source).warnings().forEach(LOG::warn);
    }
  }

  /** Returns the keys of variables that no mapping contains. */
  static Stream<String> in(SmallRyeConfig config) {
    PropertyNamesMatcher known =
        ConfigMappings.propertyNamesMatcher(
            MAPPINGS.stream().<ConfigClass>map(ConfigClass::configClass).toList());
    return ConfigOrigin.keys(config)
        .filter(name -> name.startsWith("holdfast."))
        .filter(name -> !known.matches(name))
        .filter(name -> !SERVICE_LINK.matcher(name).matches())
        .sorted();
  }

  /** Says what is wrong with a variable, and which one may be meant. */
  static String advice(String key) {
    String variable = ConfigOrigin.variable(key);
    // A star stands for the name of an upstream, header or variable.
    List<String> names =
        MAPPINGS.stream()
            .flatMap(mapping -> ConfigClass.configClass(mapping).getProperties().keySet().stream())
            .map(ConfigOrigin::variable)
            .sorted(Comparator.comparingInt(String::length).reversed())
            .toList();
    for (String name : names) {
      int star = name.indexOf('*');
      boolean ofUpstream = star > 0 && name.indexOf('*', star + 1) < 0;
      if (ofUpstream && variable.matches(name.replace("*", "[A-Z0-9_]+"))) {
        String word = variable.substring(star, variable.length() - (name.length() - star - 1));
        return variable
            + " is ignored: the name of an upstream is one word in a variable, as in "
            + name.replace("*", word.replace("_", ""))
            + ". holdfast.yaml allows other names";
      }
    }
    return KEYS.nearestVariable(variable)
        .map(nearest -> variable + " is ignored, there is no such key: is it " + nearest + "?")
        .orElse(variable + " is ignored: there is no such key");
  }
}
