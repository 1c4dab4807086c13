package dev.holdfast.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.log.EventLog;
import dev.holdfast.log.Position;
import dev.holdfast.log.Retention;
import dev.holdfast.log.memory.MemoryEventLog;
import dev.holdfast.session.SessionId;
import dev.holdfast.session.SessionLimits;
import dev.holdfast.session.SessionStore;
import dev.holdfast.session.memory.MemorySessionStore;
import dev.holdfast.upstream.local.server.LocalUpstream;
import dev.holdfast.upstream.local.server.ServerFeatures;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A gateway keeps what it has in its memory: a command has a store of its own, which is empty. */
class MemoryStoreTest {

  private static final Duration HOUR = Duration.ofHours(1);
  private static final InstantSource CLOCK = InstantSource.system();

  private final LocalUpstream upstream =
      new LocalUpstream(ServerFeatures.of(List.of()), "test", "1");
  private final SingleProcessContext laptop = new SingleProcessContext(upstream, 1);
  private final SessionStore sessions =
      new MemorySessionStore(HOUR, new SessionLimits(1, Map.of()), CLOCK);
  private final EventLog log =
      new MemoryEventLog(new Retention(HOUR, HOUR, 10, HOUR, 10), 10_000, CLOCK);
  private final ByteArrayOutputStream results = new ByteArrayOutputStream();
  private final ByteArrayOutputStream remarks = new ByteArrayOutputStream();
  private final Output output =
      new Output(new PrintStream(results, true, UTF_8), new PrintStream(remarks, true, UTF_8));

  @AfterEach
  void close() {
    log.close();
    upstream.close();
  }

  private void assertSaysSo(ExitCode code) {
    assertThat(code).isEqualTo(ExitCode.PROBLEM);
    assertThat(results.toString(UTF_8)).isEmpty();
    assertThat(remarks.toString(UTF_8))
        .contains("nothing of it can be seen from another process", "--store redis");
  }

  @Test
  void shouldListNoSessions() {
    assertSaysSo(new Listings(laptop, sessions, output).sessions(false));
  }

  @Test
  void shouldListNoStreams() {
    assertSaysSo(new Listings(laptop, sessions, output).streams(null, true));
  }

  @Test
  void shouldFollowNothing() {
    Command.Tail tail = new Command.Tail(Map.of(), SessionId.random(), null, Position.START, false);

    assertSaysSo(new Follower(laptop, sessions, log, output).follow(tail));
  }
}
