package dev.holdfast.wiring;

import dev.holdfast.cluster.ClusterConfig;
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
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
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
          ClusterConfig.class,
          TraceConfig.class);

  private static final Logger LOG = Logger.getLogger(UnknownVariables.class);

  /** As many wrong characters are taken for a typing error. */
  private static final int MAX_TYPO = 3;

  /** Variables that Kubernetes sets for services named holdfast or holdfast-something. */
  private static final Pattern SERVICE_LINK =
      Pattern.compile("holdfast\\.(.+\\.)?(service\\.(host|port.*)|port(\\[\\d+\\].+)?)");

  private final SmallRyeConfig config;

  UnknownVariables(SmallRyeConfig config) {
    this.config = config;
  }

  void warn(@Observes StartupEvent event) {
    in(config).forEach(key -> LOG.warn(advice(key)));
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

  /** Says what is wrong with a variable, and which one may be meant. */
  static String advice(String key) {
    String variable = variable(key);
    List<String> known = names().toList();
    for (String name : known) {
      int star = name.indexOf('*');
      boolean ofUpstream = star > 0 && name.indexOf('*', star + 1) < 0;
      if (ofUpstream && variable.matches(name.replace("*", "[A-Z0-9_]+"))) {
        String word = variable.substring(star, variable.length() - (name.length() - star - 1));
        return variable
            + " is ignored: the name of an upstream is one word in a variable, as in "
            + name.replace("*", word.replace("_", ""));
      }
    }
    return known.stream()
        .min(Comparator.comparingInt(name -> distance(variable, name)))
        .filter(nearest -> distance(variable, nearest) <= MAX_TYPO)
        .map(nearest -> variable + " is ignored, there is no such key: is it " + nearest + "?")
        .orElse(variable + " is ignored: there is no such key");
  }

  /** The variables of all keys; a star stands for the name of an upstream, header or variable. */
  private static Stream<String> names() {
    return MAPPINGS.stream()
        .flatMap(mapping -> ConfigClass.configClass(mapping).getProperties().keySet().stream())
        .map(UnknownVariables::variable)
        .sorted(Comparator.comparingInt(String::length).reversed());
  }

  private static String variable(String key) {
    return key.toUpperCase(Locale.ROOT).replaceAll("[^A-Z0-9*]", "_");
  }

  /** The number of characters to insert, remove or replace (Levenshtein). */
  private static int distance(String one, String other) {
    int[] row = IntStream.rangeClosed(0, other.length()).toArray();
    for (int i = 1; i <= one.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= other.length(); j++) {
        int replaced = diagonal + (one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[other.length()];
  }
}
