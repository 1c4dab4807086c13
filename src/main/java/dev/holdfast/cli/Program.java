package dev.holdfast.cli;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.StoreUnavailableException;
import dev.holdfast.redis.RedisException;
import dev.holdfast.relay.Relay;
import dev.holdfast.session.SessionStore;
import dev.holdfast.session.SessionStoreException;
import io.quarkus.arc.Unremovable;
import io.quarkus.runtime.QuarkusApplication;
import io.quarkus.runtime.ShutdownEvent;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.time.InstantSource;

/** Runs the commands other than {@code serve}. */
@Singleton
@Unremovable
public final class Program implements QuarkusApplication {

  private final CommandContext equipment;
  private final SessionStore sessions;
  private final EventLog log;
  private final Relay relay;
  private final InstantSource clock;
  private final StdioServer stdio;

  Program(
      CommandContext equipment,
      SessionStore sessions,
      EventLog log,
      Relay relay,
      InstantSource clock,
      StdioServer stdio) {
    this.equipment = equipment;
    this.sessions = sessions;
    this.log = log;
    this.relay = relay;
    this.clock = clock;
    this.stdio = stdio;
  }

  @Override
  public int run(String... words) {
    Output output = Output.ofProcess();
    if (!(CommandLineReader.read(words) instanceof ParsedCommandLine.Wanted(Command command))) {
      return ExitCode.USAGE.number();
    }
    try {
      return run(command, output).number();
    } catch (StoreUnavailableException | SessionStoreException | RedisException away) {
      output.remark("The store cannot be reached: " + Causes.of(away));
      return ExitCode.STORE_AWAY.number();
    }
  }

  private ExitCode run(Command command, Output output) {
    Listings listings = new Listings(equipment, sessions, output);
    return switch (command) {
      case Command.Serve _ -> throw new IllegalStateException("the gateway itself serves");
      case Command.Stdio _ -> stdio.run(output);
      case Command.Doctor doctor -> new Doctor(equipment, clock).run(output, doctor.json());
      case Command.Sessions asked -> listings.sessions(asked.json());
      case Command.Streams asked -> listings.streams(asked.session(), asked.json());
      case Command.Tail tail -> new Follower(equipment, sessions, log, output).follow(tail);
      case Command.Purge purge -> new Purge(equipment, sessions, relay, output).run(purge);
    };
  }

  void stop(@Observes ShutdownEvent event) {
    stdio.stop();
  }
}
