package dev.holdfast.wiring.config;

import dev.holdfast.config.ConfigErrors;
import dev.holdfast.config.ConfigOrigin;
import dev.holdfast.config.InvalidFileException;
import dev.holdfast.text.TlsProblem;
import io.quarkus.runtime.QuarkusBindException;
import io.quarkus.runtime.configuration.ConfigUtils;
import io.quarkus.runtime.configuration.ConfigurationException;
import io.smallrye.config.ConfigValidationException;
import io.smallrye.config.SmallRyeConfig;
import java.net.BindException;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.eclipse.microprofile.config.ConfigProvider;
import org.jboss.logging.Logger;

/** Says why the program does not start: one line for each problem, and how to solve it. */
public final class StartFailure {

  private static final Logger LOG = Logger.getLogger(StartFailure.class);

  private StartFailure() {}

  /** Returns the lines for a start that has failed. */
  public static List<String> lines(Throwable failure) {
    LOG.debug("the program did not start", failure);
    Optional<String> file =
        TlsProblem.causes(failure)
            .filter(InvalidFileException.class::isInstance)
            .map(Throwable::getMessage)
            .findFirst();
    // With an invalid file, there is no configuration to explain another failure.
    if (file.isPresent()) {
      return List.of(file.get());
    }
    return lines(failure, ConfigUtils.configBuilder().build(), StartFailure::brokenRules);
  }

  /** The framework may fail at a wrong value before the program has checked it. */
  private static List<String> brokenRules() {
    try {
      new CheckedConfig(ConfigProvider.getConfig().unwrap(SmallRyeConfig.class));
      return List.of();
    } catch (ConfigurationException broken) {
      return String.valueOf(broken.getMessage()).lines().toList();
    } catch (RuntimeException unreadable) {
      LOG.debug("the configuration cannot be checked", unreadable);
      return List.of();
    }
  }

  /**
   * Returns the lines.
   *
   * @param config the configuration, read without its types
   * @param rules finds more for a failure that does not tell the reason
   */
  public static List<String> lines(
      Throwable failure, SmallRyeConfig config, Supplier<List<String>> rules) {
    return TlsProblem.causes(failure)
        .map(cause -> linesOf(cause, config))
        .filter(lines -> !lines.isEmpty())
        .findFirst()
        .or(() -> Optional.of(rules.get()).filter(lines -> !lines.isEmpty()))
        .orElseGet(() -> List.of("Holdfast cannot start: " + root(failure)));
  }

  private static List<String> linesOf(Throwable failure, SmallRyeConfig config) {
    return switch (failure) {
      case ConfigValidationException refused ->
          new ConfigErrors(UnknownVariables.KEYS, config).lines(refused);
      case ConfigurationException refused -> String.valueOf(refused.getMessage()).lines().toList();
      case QuarkusBindException busy -> List.of(bind(busy, config));
      case BindException busy -> List.of(bind(ofManagement(busy, config), config));
      case UnknownHostException _ -> List.of(host(config));
      default -> List.of();
    };
  }

  /** Quarkus does not say of the management port which one it is. */
  private static QuarkusBindException ofManagement(BindException failure, SmallRyeConfig config) {
    return new QuarkusBindException(
        config.getValue("quarkus.management.host", String.class),
        config.getValue("quarkus.management.port", int.class),
        failure);
  }

  private static String bind(QuarkusBindException failure, SmallRyeConfig config) {
    if (!String.valueOf(failure.getMessage()).contains("in use")) {
      return host(config);
    }
    String port = Integer.toString(failure.getPort());
    String key =
        Stream.of("quarkus.management.port", "quarkus.http.ssl-port")
            .filter(each -> port.equals(config.getConfigValue(each).getValue()))
            .findFirst()
            .orElse("quarkus.http.port");
    return "%s: port %s of %s is in use: stop the other program, or set another port, such as %s=%d"
        .formatted(
            ConfigOrigin.named(config, key),
            port,
            failure.getHost(),
            ConfigOrigin.variable(key),
            failure.getPort() + 1);
  }

  private static String host(SmallRyeConfig config) {
    String key = "quarkus.http.host";
    return ConfigOrigin.named(config, key)
        + " must be an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all, not "
        + config.getConfigValue(key).getValue();
  }

  private static String root(Throwable failure) {
    Throwable root = TlsProblem.causes(failure).reduce(failure, (_, cause) -> cause);
    String message = root.getMessage();
    return message == null
        ? root.getClass().getSimpleName()
        : message.lines().findFirst().orElse("");
  }
}
