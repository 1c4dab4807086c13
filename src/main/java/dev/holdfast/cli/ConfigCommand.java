package dev.holdfast.cli;

import dev.holdfast.config.ConfigOrigin;
import io.smallrye.config.ConfigValue;
import io.smallrye.config.SmallRyeConfig;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Runs {@code holdfast config}: prints the configuration in force, and where each value comes from.
 * The program has checked it already.
 */
record ConfigCommand(SmallRyeConfig config, Output output) {

  private static final Pattern SECRET =
      Pattern.compile(".*\\.(headers|environment)\\..+|.*(password|secret|token|credential).*");

  private static final List<String> QUARKUS =
      List.of("quarkus.http.host", "quarkus.http.port", "quarkus.management.port");

  ExitCode run(boolean onlyCheck) {
    if (onlyCheck) {
      output.note("The configuration is valid.");
      return ExitCode.SUCCESS;
    }
    Stream.concat(QUARKUS.stream(), ConfigOrigin.keys(config))
        .map(config::getConfigValue)
        .filter(value -> value.getValue() != null && !value.getValue().isEmpty())
        .filter(ConfigCommand::isShown)
        .map(this::print)
        .distinct()
        .sorted()
        .forEach(output.stdout()::println);
    return ExitCode.SUCCESS;
  }

  /** The keys of the program, and those of Quarkus that are set. */
  private static boolean isShown(ConfigValue value) {
    String key = value.getName();
    return key.startsWith("holdfast.")
        || QUARKUS.contains(key)
        || (key.startsWith("quarkus.") && !ConfigOrigin.of(value).isEmpty());
  }

  private String print(ConfigValue value) {
    String origin = ConfigOrigin.of(value);
    String from = origin.isEmpty() ? "default" : origin;
    String shown = shown(value.getName(), Objects.requireNonNull(value.getValue()));
    return output.json()
        ? Output.object()
            .put("key", value.getName())
            .put("value", shown)
            .put("origin", from)
            .toString()
        : PrintableText.of("%s=%s (%s)".formatted(value.getName(), shown, from));
  }

  /** Hides what may be a secret, also in the query of a URL and in the options of a program. */
  static String shown(String key, String value) {
    if (SECRET.matcher(key).matches()) {
      return "***";
    }
    String known = key.endsWith(".command") ? CommandSecrets.hide(value) : value;
    return PrintableText.of(known.replaceAll("(://[^\\s?]*)\\?[^\\s']*", "$1?***"));
  }
}
