package dev.holdfast.bench;

import dev.holdfast.auth.AccessKey;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.OpenIdProvider;
import dev.holdfast.testing.Ports;
import dev.holdfast.testing.ServerProcess;
import java.util.Map;

/**
 * Compares calls with a key, and with an access token of a real provider, to calls without. The
 * arguments are those of {@link Contestants#measure}.
 */
final class AuthenticationBenchmark {

  private AuthenticationBenchmark() {}

  /** Runs it. */
  public static void main(String[] args) {
    AccessKey key = AccessKey.random();
    int port = Ports.free();
    String root = "http://127.0.0.1:" + port;
    // Tokens live for ten minutes.
    try (ServerProcess server = BenchmarkEnvironment.start(FastUpstream.class);
        OpenIdProvider provider = OpenIdProvider.start();
        Gateway off = Contestants.gateway(server, Map.of());
        Gateway keyed =
            Contestants.gateway(server, Map.of("holdfast.auth.keys.bench.hash", key.hash()));
        Gateway checked =
            Contestants.gateway(
                server,
                Map.of(
                    "quarkus.http.port",
                    Integer.toString(port),
                    "holdfast.auth.issuers.bench.url",
                    provider.issuer(),
                    "holdfast.auth.public-url",
                    root))) {
      new Contestants()
          .with("off", off, "", true)
          .with("key", keyed, bearer(key.value()), true)
          .with("token", checked, bearer(provider.token("alice", root + "/mcp", "tools")), true)
          .measure(args);
    }
  }

  /** The header with a key or a token. */
  static String bearer(String value) {
    return "Authorization: Bearer " + value + "\r\n";
  }
}
