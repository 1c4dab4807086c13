package dev.holdfast.cli;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Runs {@code holdfast doctor --live}: asks the gateway on this machine whether it is alive. This
 * is the health check of a container image that has neither a shell nor a client. It runs every few
 * seconds, so it starts no framework, and reads the port from the environment only.
 */
final class LivenessCheck {

  private static final String VARIABLE = "QUARKUS_MANAGEMENT_PORT";
  private static final int DEFAULT_PORT = 9000;
  private static final int TIMEOUT_MILLIS = (int) Duration.ofSeconds(3).toMillis();

  private LivenessCheck() {}

  /** Returns the port of health and metrics. */
  static int port(Map<String, String> environment) {
    @Nullable String port = environment.get(VARIABLE);
    return port != null && port.matches("\\d{1,5}") ? Integer.parseInt(port) : DEFAULT_PORT;
  }

  /** Returns success if the gateway says within three seconds that it is alive. */
  static ExitCode run(int port) {
    try {
      URI url = URI.create("http://127.0.0.1:" + port + "/q/health/live");
      HttpURLConnection connection = (HttpURLConnection) url.toURL().openConnection();
      connection.setConnectTimeout(TIMEOUT_MILLIS);
      connection.setReadTimeout(TIMEOUT_MILLIS);
      boolean alive = connection.getResponseCode() == HttpURLConnection.HTTP_OK;
      connection.disconnect();
      return alive ? ExitCode.SUCCESS : ExitCode.PROBLEM;
    } catch (IOException noAnswer) {
      return ExitCode.PROBLEM;
    }
  }
}
