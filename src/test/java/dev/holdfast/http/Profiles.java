package dev.holdfast.http;

import io.quarkus.test.junit.QuarkusTestProfile;
import java.util.List;
import java.util.Map;

/** The configurations under which the gateway is tested; each costs a start of the program. */
final class Profiles {

  private Profiles() {}

  /** As it comes, with further upstreams that fail at will. */
  public static class Usual implements QuarkusTestProfile {
    @Override
    public List<TestResourceEntry> testResources() {
      return List.of(new TestResourceEntry(ScriptedUpstream.class));
    }
  }

  /** Room for little. */
  public static final class Tight extends Usual {
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

  /** Upstreams that share little, and have less for themselves. */
  public static final class Several extends Usual {
    @Override
    public Map<String, String> getConfigOverrides() {
      return Map.of(
          "holdfast.limits.requests", "8",
          "holdfast.upstreams.scripted.first-byte-timeout", "30s",
          "holdfast.upstreams.other.max-sessions", "1",
          "holdfast.upstreams.narrow.max-connections", "1");
    }
  }

  /** Behind a proxy, open to any page, with room for little at once. */
  public static final class Proxied extends Usual {
    @Override
    public Map<String, String> getConfigOverrides() {
      return Map.of(
          "quarkus.http.proxy.proxy-address-forwarding", "true",
          "quarkus.http.proxy.allow-x-forwarded", "true",
          "holdfast.limits.connections-per-address", "1",
          "holdfast.limits.requests", "2",
          // Or one of them would be left for the others.
          "holdfast.upstreams.hasty.max-requests", "2",
          "holdfast.http.allowed-origins", "*");
    }
  }

  /** Connections that do not live long, streams that do; all requests are logged. */
  public static final class ShortLived extends Usual {
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

  /** Clients that take or send nothing are borne with for a moment, and there is room for few. */
  public static final class Impatient extends Usual {
    @Override
    public Map<String, String> getConfigOverrides() {
      return Map.of(
          "holdfast.stream.write-timeout", "1s",
          "holdfast.http.body-timeout", "3s",
          "holdfast.limits.connections", "3");
    }
  }

  /** Streams that nobody can resume. */
  public static final class WithoutReplay extends Usual {
    @Override
    public Map<String, String> getConfigOverrides() {
      return Map.of("holdfast.replay.enabled", "false");
    }
  }
}
