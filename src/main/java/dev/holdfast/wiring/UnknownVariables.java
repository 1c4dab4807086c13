package dev.holdfast.wiring;

import dev.holdfast.cluster.ClusterConfig;
import dev.holdfast.http.limit.LimitsConfig;
import dev.holdfast.http.origin.HttpConfig;
import dev.holdfast.relay.stream.ReplayConfig;
import dev.holdfast.relay.stream.StoreFailureConfig;
import dev.holdfast.relay.stream.StreamConfig;
import dev.holdfast.session.SessionConfig;
import io.quarkus.runtime.StartupEvent;
import io.smallrye.config.ConfigMappings;
import io.smallrye.config.ConfigMappings.ConfigClass;
import io.smallrye.config.PropertyNamesMatcher;
import io.smallrye.config.SmallRyeConfig;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jboss.logging.Logger;

/**
 * Warns about {@code HOLDFAST_} variables in the environment, or in {@code .env}, that are not
 * configuration keys. In other sources, an unknown key fails the start.
 */
@Singleton
final class UnknownVariables {

  /** The mappings of all keys under {@code holdfast}. */
  static final List<Class<?>> MAPPINGS =
      List.of(
          GatewayConfig.class,
          StreamConfig.class,
          ReplayConfig.class,
          StoreFailureConfig.class,
          SessionConfig.class,
          HttpConfig.class,
          LimitsConfig.class,
          ClusterConfig.class);

  private static final Logger LOG = Logger.getLogger(UnknownVariables.class);

  /** Variables that Kubernetes sets for services named holdfast or holdfast-something. */
  private static final Pattern SERVICE_LINK =
      Pattern.compile("holdfast\\.(.+\\.)?(service\\.(host|port.*)|port(\\[\\d+\\].+)?)");

  private final SmallRyeConfig config;

  UnknownVariables(SmallRyeConfig config) {
    this.config = config;
  }

  void warn(@Observes StartupEvent event) {
    in(config)
        .forEach(
            name -> LOG.warnf("ignored a variable that is not a configuration key: key=%s", name));
  }

  /** Returns the keys of variables that no mapping contains. */
  static Stream<String> in(SmallRyeConfig config) {
    PropertyNamesMatcher known =
        ConfigMappings.propertyNamesMatcher(
            MAPPINGS.stream().<ConfigClass>map(ConfigClass::configClass).toList());
    return StreamSupport.stream(config.getPropertyNames().spliterator(), false)
        .filter(name -> name.startsWith("holdfast."))
        .filter(name -> !known.matches(name))
        .filter(name -> !SERVICE_LINK.matcher(name).matches())
        .sorted();
  }
}
