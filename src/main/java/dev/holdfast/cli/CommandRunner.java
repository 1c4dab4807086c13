package dev.holdfast.cli;

import dev.holdfast.bridge.StdioBridge;
import dev.holdfast.call.Endpoint;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogException;
import dev.holdfast.redis.RedisException;
import dev.holdfast.relay.Housekeeping;
import dev.holdfast.session.SessionStore;
import dev.holdfast.session.SessionStoreException;
import dev.holdfast.upstream.Upstream;
import io.quarkus.arc.Unremovable;
import io.quarkus.runtime.QuarkusApplication;
import io.quarkus.runtime.ShutdownEvent;
import io.smallrye.config.SmallRyeConfig;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Provider;
import jakarta.inject.Singleton;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.time.InstantSource;
import java.util.Objects;
import org.eclipse.microprofile.config.ConfigProvider;
import org.jspecify.annotations.Nullable;

/** Runs the commands other than {@code serve}. */
@Singleton
@Unremovable
public final class CommandRunner implements QuarkusApplication {

  private final CommandContext context;
  private final SessionStore sessions;
  private final EventLog log;
  private final Provider<Housekeeping> expired;
  private final InstantSource clock;
  private volatile @Nullable StdioBridge bridge;

  CommandRunner(
      CommandContext context,
      SessionStore sessions,
      EventLog log,
      Provider<Housekeeping> expired,
      InstantSource clock) {
    this.context = context;
    this.sessions = sessions;
    this.log = log;
    this.expired = expired;
    this.clock = clock;
  }

  @Override
  public int run(String... arguments) {
    Command command = CommandLineReader.read(arguments);
    Output output = Output.ofProcess(command.json());
    try {
      return run(command, output).number();
    } catch (LogException.StoreUnavailable | SessionStoreException | RedisException unavailable) {
      output.note("The store cannot be reached: " + Output.message(unavailable));
      return ExitCode.STORE_UNAVAILABLE.number();
    }
  }

  ExitCode run(Command command, Output output) {
    return switch (command) {
      case Command.Print _, Command.Live _, Command.Show _, Command.Serve _, Command.Replay _ ->
          throw new IllegalStateException("not run by this class: " + command);
      case Command.Stdio _ -> runBridge(output);
      case Command.Doctor _ -> new DoctorCommand(context, clock, output).run();
      case Command.Config config ->
          new ConfigCommand(ConfigProvider.getConfig().unwrap(SmallRyeConfig.class), output)
              .run(config.onlyCheck());
      case Command.Verify verify -> TapeCommands.verify(verify, defaultUpstream(), output);
      case Command.OnStore onStore ->
          context
              .sharedStore()
              .map(store -> run(onStore, store, output))
              .orElseGet(() -> refuse(output));
    };
  }

  private ExitCode run(Command.OnStore command, CommandContext.SharedStore store, Output output) {
    SessionPages pages = new SessionPages(sessions);
    return switch (command) {
      case Command.OnCalls calls ->
          new CallCommands(store.streams(), store.inbox(), pages, clock, output).run(calls);
      case Command.OnSessions about ->
          new StoreCommands(store.streams(), pages, log, expired, context.clients(), output)
              .run(about);
    };
  }

  private static ExitCode refuse(Output output) {
    output.note(
        "The store is memory, which cannot be seen from another process."
            + " Use the Redis store (--store redis), if the gateway does.");
    return ExitCode.PROBLEM;
  }

  /** Returns after stdin has ended and every request has been answered or given up. */
  private ExitCode runBridge(Output output) {
    StdioBridge running =
        new StdioBridge(defaultUpstream(), output.stdout(), context.maxMessageBytes());
    bridge = running;
    return running.run(new FileInputStream(FileDescriptor.in))
        ? ExitCode.SUCCESS
        : ExitCode.PROBLEM;
  }

  private Upstream defaultUpstream() {
    return Objects.requireNonNull(
        context.upstreams().get(Endpoint.DEFAULT_UPSTREAM), "always there");
  }

  /** Ends the session of the bridge at once, if there is one. */
  void stop(@Observes ShutdownEvent event) {
    StdioBridge running = bridge;
    if (running != null) {
      running.close();
    }
  }
}
