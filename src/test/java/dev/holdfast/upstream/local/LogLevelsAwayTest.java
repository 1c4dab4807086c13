package dev.holdfast.upstream.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.upstream.UpstreamException;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What becomes of log levels while nobody can tell which one a client has chosen. */
class LogLevelsAwayTest {

  /** Like those in Redis while that is away. */
  private static final LogLevels AWAY =
      new LogLevels() {
        @Override
        public void put(String session, LogLevel level) {
          throw new UpstreamException.Unreachable(null);
        }

        @Override
        public Optional<LogLevel> find(String session) {
          throw new UpstreamException.Unreachable(null);
        }

        @Override
        public void remove(String session) {}
      };

  @Test
  void shouldGoByTheDefaultWhileNobodyCanTell() {
    LogThreshold threshold = new LogThreshold(AWAY, "s");

    assertThat(threshold.lets(LogLevel.DEBUG)).isFalse();
    assertThat(threshold.lets(LogLevel.INFO)).isTrue();
  }

  @Test
  void shouldRefuseALevelThatIsNotKept() {
    try (LocalUpstream upstream = new LocalUpstream(Offer.of(List.of()), AWAY, "test", "1")) {
      LocalClient client = LocalClient.open(upstream);

      assertThat(
              client.ask(
                  """
                  {"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}\
                  """))
          .contains("\"id\":1", "-32603");
    }
  }
}
