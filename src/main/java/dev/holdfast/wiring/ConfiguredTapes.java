package dev.holdfast.wiring;

import dev.holdfast.record.RecordedUpstream;
import dev.holdfast.record.Recorder;
import dev.holdfast.record.TapeDirectory;
import dev.holdfast.upstream.Upstream;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Records the upstreams that have a directory for their tapes. */
final class ConfiguredTapes implements AutoCloseable {

  private final GatewayConfig.Tapes config;
  private final InstantSource clock;

  /** By the directory of their tapes. */
  private final Map<Path, Recorder> recorders = new ConcurrentHashMap<>();

  ConfiguredTapes(GatewayConfig.Tapes config, InstantSource clock) {
    this.config = config;
    this.clock = clock;
  }

  /**
   * Records an upstream.
   *
   * @param server its configuration; null for agents
   * @return the upstream itself if it has no directory
   */
  Upstream recorded(String name, GatewayConfig.@Nullable Server server, Upstream upstream) {
    Optional<Path> own = server == null ? Optional.empty() : server.recordDir();
    return own.or(config::dir)
        .map(directory -> directory.toAbsolutePath().normalize())
        .map(directory -> recorders.computeIfAbsent(directory, this::recorder))
        .<Upstream>map(recorder -> new RecordedUpstream(upstream, name, recorder))
        .orElse(upstream);
  }

  private Recorder recorder(Path directory) {
    return new Recorder(
        new TapeDirectory(
            directory, config.fileBytes().asLongValue(), config.maxBytes().asLongValue()),
        clock);
  }

  @Override
  public void close() {
    recorders.values().forEach(Recorder::close);
  }
}
