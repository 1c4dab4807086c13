package dev.holdfast.cli;

import dev.holdfast.bridge.StdioBridge;
import dev.holdfast.session.Session;
import dev.holdfast.upstream.Upstream;
import jakarta.inject.Singleton;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** The bridge between stdin and stdout of this process and the default upstream. */
@Singleton
final class StdioServer {

  private final CommandContext equipment;
  private final AtomicReference<@Nullable StdioBridge> running = new AtomicReference<>();

  StdioServer(CommandContext equipment) {
    this.equipment = equipment;
  }

  /** Returns when stdin has ended and all is settled. */
  ExitCode run(Output output) {
    Upstream upstream =
        Objects.requireNonNull(equipment.upstreams().get(Session.DEFAULT_UPSTREAM), "always there");
    StdioBridge bridge = new StdioBridge(upstream, output.results(), equipment.messageBytes());
    running.set(bridge);
    return bridge.run(new FileInputStream(FileDescriptor.in)) ? ExitCode.FINE : ExitCode.PROBLEM;
  }

  /** Ends the session at once; without effect when there is none. */
  void stop() {
    StdioBridge bridge = running.get();
    if (bridge != null) {
      bridge.close();
    }
  }
}
