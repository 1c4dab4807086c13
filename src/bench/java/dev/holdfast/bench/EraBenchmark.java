package dev.holdfast.bench;

import dev.holdfast.auth.AccessKey;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.ServerProcess;
import java.util.Map;

/**
 * Compares calls of clients without a session to calls in a session, at a server with sessions. The
 * arguments are those of {@link Contestants#measure}.
 */
final class EraBenchmark {

  private EraBenchmark() {}

  /** Runs it. */
  public static void main(String[] args) {
    AccessKey key = AccessKey.random();
    Map<String, String> settings = Map.of("holdfast.auth.keys.bench.hash", key.hash());
    try (ServerProcess server = BenchmarkEnvironment.start(FastUpstream.class);
        Gateway one = Contestants.gateway(server, settings);
        Gateway two = Contestants.gateway(server, settings)) {
      String header = AuthenticationBenchmark.bearer(key.value());
      new Contestants()
          .with("in sessions", one, header, true)
          .with("without", two, header, false)
          .measure(args);
    }
  }
}
