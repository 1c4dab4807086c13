package dev.holdfast.bench;

import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.ServerProcess;
import java.util.HashMap;
import java.util.Map;

/**
 * Compares calls at an endpoint for one, two and fifty servers. The arguments are those of {@link
 * Contestants#measure}.
 */
final class MergeBenchmark {

  private MergeBenchmark() {}

  /** Runs it. */
  public static void main(String[] args) {
    try (ServerProcess server = BenchmarkEnvironment.start(FastUpstream.class);
        Gateway one = Contestants.gateway(server, Map.of());
        Gateway two = Contestants.gateway(server, merged(server, 2));
        Gateway fifty = Contestants.gateway(server, merged(server, 50))) {
      new Contestants()
          .with("one server", one, "", true)
          .with("two", two, "", true)
          .with("fifty", fifty, "", true)
          .measure(args);
    }
  }

  private static Map<String, String> merged(ServerProcess server, int servers) {
    Map<String, String> settings = new HashMap<>();
    settings.put("holdfast.merge.enabled", "true");
    settings.put("holdfast.merge.naming", "priority");
    for (int i = 1; i < servers; i++) {
      settings.put(
          "holdfast.upstreams.s" + i + ".url", "http://127.0.0.1:" + server.port() + "/mcp");
    }
    return settings;
  }
}
