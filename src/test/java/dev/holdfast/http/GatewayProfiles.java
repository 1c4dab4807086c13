package dev.holdfast.http;

import io.quarkus.test.junit.QuarkusTestProfile;
import java.util.List;
import java.util.Map;

/** Configurations for the tests of the gateway. Each one starts the program once more. */
final class GatewayProfiles {

  private GatewayProfiles() {}

  /** The default configuration, with further upstreams that can fail. */
  public static class Default implements QuarkusTestProfile {
    @Override
    public List<TestResourceEntry> testResources() {
      return List.of(new TestResourceEntry(ScriptedUpstream.class));
    }
  }

  /** Low limits. */
  public static final class LowLimits extends Default {
    @Override
    public Map<String, String> getConfigOverrides() {
      return Map.of(
          "holdfast.limits.connections", "4",
          "holdfast.limits.sessions", "3",
          "holdfast.limits.streams-per-session", "3",
          "holdfast.limits.message-bytes", "2K",
          "holdfast.stream.max-events", "100");
    }
  }

  /** Low limits for all upstreams together, and lower ones for each. */
  public static final class UpstreamLimits extends Default {
    @Override
    public Map<String, String> getConfigOverrides() {
      return Map.of(
          "holdfast.limits.requests", "8",
          "holdfast.upstreams.scripted.first-byte-timeout", "30s",
          "holdfast.upstreams.other.max-sessions", "1",
          "holdfast.upstreams.narrow.max-connections", "1");
    }
  }

  /** A trusted proxy, all origins allowed, and few concurrent requests. */
  public static final class BehindProxy extends Default {
    @Override
    public Map<String, String> getConfigOverrides() {
      return Map.of(
          "quarkus.http.proxy.proxy-address-forwarding", "true",
          "quarkus.http.proxy.allow-x-forwarded", "true",
          "holdfast.limits.connections-per-address", "1",
          "holdfast.limits.requests", "2",
          // By default, one of the two requests would be reserved for other upstreams.
          "holdfast.upstreams.hasty.max-requests", "2",
          "holdfast.http.allowed-origins", "*");
    }
  }

  /** Short-lived connections. All requests are durable, and a replay skips gaps. */
  public static final class ShortConnections extends Default {
    @Override
    public Map<String, String> getConfigOverrides() {
      return Map.of(
          "holdfast.stream.keep-alive", "100ms",
          "holdfast.stream.idle-timeout", "700ms",
          "holdfast.stream.max-lifetime", "1500ms",
          "holdfast.stream.retry", "70ms",
          "holdfast.stream.max-events", "100",
          "holdfast.stream.durable", "all",
          "holdfast.replay.on-gap", "continue");
    }
  }

  /** Short timeouts for clients that read or send too slowly, few connections, and HTTP/2. */
  public static final class ShortTimeouts extends Default {
    @Override
    public Map<String, String> getConfigOverrides() {
      return Map.of(
          "holdfast.stream.write-timeout", "1s",
          "holdfast.http.body-timeout", "3s",
          "holdfast.limits.connections", "3",
          "quarkus.http.http2", "true");
    }
  }

  /** Replay is disabled, so clients cannot resume streams. */
  public static final class WithoutReplay extends Default {
    @Override
    public Map<String, String> getConfigOverrides() {
      return Map.of("holdfast.replay.enabled", "false");
    }
  }
}
