package dev.holdfast.http;

import dev.holdfast.auth.AccessKey;
import dev.holdfast.testing.McpClient;
import io.quarkus.test.junit.QuarkusTestProfile;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** Configurations for the tests of the gateway. Each one starts the program once more. */
final class GatewayProfiles {

  private GatewayProfiles() {}

  /** Has further upstreams that can fail. */
  public abstract static class WithUpstreams implements QuarkusTestProfile {
    @Override
    public List<TestResourceEntry> testResources() {
      return List.of(new TestResourceEntry(ScriptedUpstream.class));
    }
  }

  /**
   * The default configuration, with limits for {@link UpstreamIsolationTest}, and threads for
   * {@link BusyToolsTest}.
   */
  public static final class Default extends WithUpstreams {

    /** One more than by default on any machine. */
    static final int COMPUTE_THREADS =
        Math.max(2, Runtime.getRuntime().availableProcessors() - 1) + 1;

    @Override
    public Map<String, String> getConfigOverrides() {
      return Map.of(
          "holdfast.limits.requests", "20",
          "holdfast.tools.compute-threads", String.valueOf(COMPUTE_THREADS),
          "holdfast.upstreams.other.max-sessions", "1",
          "holdfast.upstreams.other.new-clients", "refuse",
          "holdfast.upstreams.narrow.max-connections", "1",
          "holdfast.upstreams.other.forward-headers", "X-Tenant");
    }
  }

  /**
   * Low limits, short timeouts for clients that read or send too slowly, HTTP/2, and calls that can
   * be read by their handles.
   */
  public static final class LowLimits extends WithUpstreams {
    @Override
    public Map<String, String> getConfigOverrides() {
      return Map.of(
          "holdfast.limits.connections", "4",
          "holdfast.limits.sessions", "3",
          "holdfast.limits.streams-per-session", "3",
          "holdfast.limits.message-bytes", "100K",
          "holdfast.stream.max-events", "9000",
          "holdfast.stream.write-timeout", "1s",
          "holdfast.http.body-timeout", "2s",
          "holdfast.calls.follow", "true",
          "quarkus.http.http2", "true");
    }
  }

  /**
   * A trusted proxy, all origins allowed, and few requests at once. Replay is disabled, so clients
   * cannot resume streams. There is an interceptor.
   */
  public static final class BehindProxy extends WithUpstreams {
    @Override
    public Map<String, String> getConfigOverrides() {
      return Map.of(
          "quarkus.http.http2", "true",
          "quarkus.http.proxy.proxy-address-forwarding", "true",
          "quarkus.http.proxy.allow-x-forwarded", "true",
          "quarkus.http.proxy.trusted-proxies", "127.0.0.1,::1",
          "holdfast.http.allowed-origins", "*",
          "holdfast.replay.enabled", "false",
          "holdfast.http.sse", "false",
          "holdfast.limits.connections-per-address", "4",
          "holdfast.limits.requests", "2",
          // By default, one of the two requests would be reserved for other upstreams.
          "holdfast.upstreams.hasty.max-requests", "2");
    }

    @Override
    public Set<Class<?>> getEnabledAlternatives() {
      return Set.of(OwnInterceptorTest.NoSecrets.class);
    }
  }

  /** Calls that run for longer than a second are answered with a handle. */
  public static final class Held extends WithUpstreams {
    @Override
    public Map<String, String> getConfigOverrides() {
      return Map.of(
          "holdfast.calls.hold-after", "1s",
          "holdfast.upstreams.scripted.hold-after", "1h",
          "holdfast.clients.hasty.user-agent", "hasty/*",
          "holdfast.clients.hasty.time-limit", "1s");
    }
  }

  /** Calls become tasks soon, and other clients get a handle. */
  public static final class Tasks extends WithUpstreams {
    @Override
    public Map<String, String> getConfigOverrides() {
      return Map.of("holdfast.calls.task-after", "300ms", "holdfast.calls.hold-after", "1s");
    }
  }

  /** Fifty principals with keys. A call that one of them repeats joins the first one. */
  public static final class Attaching extends WithUpstreams {

    static final List<AccessKey> KEYS = Stream.generate(AccessKey::random).limit(50).toList();

    @Override
    public Map<String, String> getConfigOverrides() {
      Map<String, String> settings = new HashMap<>();
      settings.put("holdfast.calls.attach-window", "10m");
      settings.put("holdfast.calls.task-after", "300ms");
      settings.put("holdfast.eras.cancel-grace", "5m");
      for (int i = 0; i < KEYS.size(); i++) {
        settings.put("holdfast.auth.keys.user" + i + ".hash", KEYS.get(i).hash());
      }
      return settings;
    }
  }

  /**
   * Calls that can be read by their handles, and a log of few events. A trusted proxy serves the
   * gateway below a path.
   */
  public static final class Followed extends WithUpstreams {
    @Override
    public Map<String, String> getConfigOverrides() {
      return Map.of(
          "quarkus.http.proxy.proxy-address-forwarding", "true",
          "quarkus.http.proxy.allow-x-forwarded", "true",
          "quarkus.http.proxy.trusted-proxies", "127.0.0.1,::1",
          "quarkus.http.proxy.enable-forwarded-prefix", "true",
          "holdfast.calls.follow", "true",
          "holdfast.stream.max-events", "100");
    }
  }

  /**
   * Short-lived connections of clients that resume. All requests are durable, and a replay skips
   * gaps.
   */
  public static final class ShortConnections extends WithUpstreams {
    @Override
    public Map<String, String> getConfigOverrides() {
      return Map.of(
          "holdfast.clients.test.user-agent", McpClient.USER_AGENT,
          "holdfast.clients.test.resumes", "9",
          "holdfast.stream.keep-alive", "100ms",
          "holdfast.stream.idle-timeout", "700ms",
          "holdfast.stream.max-lifetime", "3s",
          "holdfast.stream.retry", "70ms",
          "holdfast.stream.max-events", "100",
          "holdfast.stream.durable", "all",
          "holdfast.replay.on-gap", "continue");
    }
  }
}
