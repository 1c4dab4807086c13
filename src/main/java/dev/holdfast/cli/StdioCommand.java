package dev.holdfast.cli;

import dev.holdfast.bridge.StdioBridge;
import dev.holdfast.session.Session;
import dev.holdfast.upstream.Upstream;
import io.quarkus.runtime.ShutdownEvent;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Runs {@code holdfast stdio}: connects the client on stdin and stdout to the default upstream. */
@Singleton
final class StdioCommand {

  private final CommandContext context;
  private final AtomicReference<@Nullable StdioBridge> running = new AtomicReference<>();

  StdioCommand(CommandContext context) {
    this.context = context;
  }

  /** Returns after stdin has ended and every request has been answered or given up. */
  ExitCode run(Output output) {
    Upstream upstream =
        Objects.requireNonNull(context.upstreams().get(Session.DEFAULT_UPSTREAM), "always there");
    StdioBridge bridge = new StdioBridge(upstream, output.stdout(), context.maxMessageBytes());
    running.set(bridge);
    return bridge.run(new FileInputStream(FileDescriptor.in)) ? ExitCode.SUCCESS : ExitCode.PROBLEM;
  }

  /** Ends the session at once, if there is one. */
  void stop(@Observes ShutdownEvent event) {
    StdioBridge bridge = running.get();
    if (bridge != null) {
      bridge.close();
    }
  }
}
