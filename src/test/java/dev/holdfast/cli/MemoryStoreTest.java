package dev.holdfast.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.call.SessionId;
import dev.holdfast.clients.KnownClients;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogTesting;
import dev.holdfast.log.Position;
import dev.holdfast.log.memory.MemoryEventLog;
import dev.holdfast.session.SessionLimits;
import dev.holdfast.session.SessionStore;
import dev.holdfast.session.memory.MemorySessionStore;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** With the memory store, a command has its own empty store, so it cannot see the gateway's. */
class MemoryStoreTest {

  private static final Duration HOUR = Duration.ofHours(1);
  private static final InstantSource CLOCK = InstantSource.system();

  private final CommandContext context =
      new CommandContext(
          Optional.empty(), Map.of(), Map.of(), List::of, new KnownClients(Map.of()), 1, 1000);
  private final SessionStore sessions =
      new MemorySessionStore(HOUR, () -> new SessionLimits(1, 1, Map.of()), CLOCK);
  private final EventLog log =
      new MemoryEventLog(
          LogTesting.retention(HOUR, HOUR, 10, HOUR, 10), 10_000, Long.MAX_VALUE, CLOCK);
  private final ByteArrayOutputStream stdout = new ByteArrayOutputStream();
  private final ByteArrayOutputStream stderr = new ByteArrayOutputStream();

  @AfterEach
  void close() {
    log.close();
  }

  static Stream<Command> commands() {
    return Stream.of(
        new Command.Sessions(Map.of(), false),
        new Command.Streams(Map.of(), null, true),
        new Command.Tail(Map.of(), SessionId.random().value(), null, Position.START, false),
        new Command.Purge(Map.of(), null, false, false));
  }

  @ParameterizedTest
  @MethodSource("commands")
  void shouldRefuseCommandsThatNeedASharedStore(Command command) {
    CommandRunner runner =
        new CommandRunner(
            context,
            sessions,
            log,
            () -> {
              throw new AssertionError("no session is ended");
            },
            CLOCK);
    Output output =
        new Output(
            new PrintStream(stdout, true, UTF_8),
            new PrintStream(stderr, true, UTF_8),
            command.json());

    ExitCode code = runner.run(command, output);

    assertThat(code).isEqualTo(ExitCode.PROBLEM);
    assertThat(stdout.toString(UTF_8)).isEmpty();
    assertThat(stderr.toString(UTF_8))
        .contains("cannot be seen from another process", "--store redis");
  }
}
