package dev.holdfast.cli;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogException;
import dev.holdfast.redis.RedisException;
import dev.holdfast.relay.Relay;
import dev.holdfast.session.SessionStore;
import dev.holdfast.session.SessionStoreException;
import io.quarkus.arc.Unremovable;
import io.quarkus.runtime.QuarkusApplication;
import jakarta.inject.Provider;
import jakarta.inject.Singleton;
import java.time.InstantSource;

/** Runs the commands other than {@code serve}. */
@Singleton
@Unremovable
public final class CommandRunner implements QuarkusApplication {

  private final CommandContext context;
  private final SessionStore sessions;
  private final EventLog log;
  private final Provider<Relay> relay;
  private final InstantSource clock;
  private final StdioCommand stdio;

  CommandRunner(
      CommandContext context,
      SessionStore sessions,
      EventLog log,
      Provider<Relay> relay,
      InstantSource clock,
      StdioCommand stdio) {
    this.context = context;
    this.sessions = sessions;
    this.log = log;
    this.relay = relay;
    this.clock = clock;
    this.stdio = stdio;
  }

  @Override
  public int run(String... arguments) {
    Command command = CommandLineReader.read(arguments);
    Output output = Output.ofProcess(command.json());
    try {
      return run(command, output).number();
    } catch (LogException.StoreUnavailable | SessionStoreException | RedisException unavailable) {
      output.note("The store cannot be reached: " + FailureMessage.of(unavailable));
      return ExitCode.STORE_UNAVAILABLE.number();
    }
  }

  ExitCode run(Command command, Output output) {
    return switch (command) {
      case Command.Print _, Command.Serve _ ->
          throw new IllegalStateException("not run by this class: " + command);
      case Command.Stdio _ -> stdio.run(output);
      case Command.Doctor _ -> new DoctorCommand(context, clock, output).run();
      case Command.OnStore onStore ->
          context
              .sharedStore()
              .map(store -> run(onStore, store, output))
              .orElseGet(() -> refuse(output));
    };
  }

  private ExitCode run(Command.OnStore command, CommandContext.SharedStore store, Output output) {
    return switch (command) {
      case Command.Sessions _ -> new SessionsCommand(sessions, output).run();
      case Command.Streams list ->
          new StreamsCommand(sessions, store.streams(), output).run(list.session());
      case Command.Tail tail -> new TailCommand(sessions, log, output).run(tail);
      case Command.Purge purge ->
          new PurgeCommand(sessions, relay.get(), output).run(purge.scope());
    };
  }

  private static ExitCode refuse(Output output) {
    output.note(
        "The store is memory, which cannot be seen from another process."
            + " Use the Redis store (--store redis), if the gateway does.");
    return ExitCode.PROBLEM;
  }
}
