package dev.holdfast.relay;

import dev.holdfast.relay.stream.ReplayConfig;
import dev.holdfast.relay.stream.StreamConfig;
import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Configuration as tests want it: slow clocks everywhere, unless a test turns one on. */
public final class Settings {

  private static final List<String> CLOCKS =
      List.of("drain-timeout", "keep-alive", "idle-timeout", "max-lifetime", "write-timeout");

  private static final StreamConfig STREAMS = streams(Map.of());

  private Settings() {}

  /** What a client that comes back is given. */
  public record Replay(boolean enabled, Duration window, OnGap onGap) implements ReplayConfig {}

  public static StreamConfig streams() {
    return STREAMS;
  }

  /** Sets keys below {@code holdfast.stream}. */
  public static StreamConfig streams(Map<String, ?> changes) {
    Map<String, String> properties = new HashMap<>();
    CLOCKS.forEach(clock -> properties.put("holdfast.stream." + clock, "1h"));
    changes.forEach((key, value) -> properties.put("holdfast.stream." + key, value.toString()));
    return new SmallRyeConfigBuilder()
        .addDiscoveredConverters()
        .withMapping(StreamConfig.class)
        .withSources(new PropertiesConfigSource(properties, "test", 100))
        .build()
        .getConfigMapping(StreamConfig.class);
  }

  public static Replay replay() {
    return new Replay(true, Duration.ofHours(24), ReplayConfig.OnGap.ERROR);
  }

  static Replay continuing() {
    return new Replay(true, Duration.ofHours(24), ReplayConfig.OnGap.CONTINUE);
  }
}
