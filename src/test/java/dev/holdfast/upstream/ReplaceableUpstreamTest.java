package dev.holdfast.upstream;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.call.Caller;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.ForwardedHeaders;
import dev.holdfast.protocol.Message;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ReplaceableUpstreamTest {

  private static final Message.Request INITIALIZE =
      (Message.Request)
          ((Body.Single)
                  Envelopes.read(
                      "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\"}".getBytes(UTF_8)))
              .message();

  private static final Caller SENDER =
      Caller.UNKNOWN.with(new ForwardedHeaders(Map.of("first", "1", "second", "2")));

  private Instant now = Instant.parse("2030-01-01T00:00:00Z");

  private final Server first = new Server("first");
  private final Server second = new Server("second");
  private final ReplaceableUpstream upstream = new ReplaceableUpstream(first, () -> now);

  private UpstreamLink open() {
    return Objects.requireNonNull(upstream.initialize(INITIALIZE, SENDER).link());
  }

  private String serverOf(UpstreamLink link) {
    return upstream.placement(link).transport();
  }

  /** All within the same millisecond. */
  @Test
  void shouldKeepSessionsAtTheServerThatOpenedThem() {
    UpstreamLink old = open();
    upstream.replace(second);
    UpstreamLink next = open();
    upstream.replace(first);

    assertThat(serverOf(old)).isEqualTo("first");
    assertThat(serverOf(next)).isEqualTo("second");
    assertThat(serverOf(open())).isEqualTo("first");
    assertThat(serverOf(new UpstreamLink("not recorded yet", "v"))).isEqualTo("first");
  }

  @Test
  void shouldKeepSessionsApartWhenTheClockIsSetBack() {
    UpstreamLink old = open();
    now = now.minusSeconds(10);
    upstream.replace(second);

    assertThat(serverOf(old)).isEqualTo("first");
    assertThat(serverOf(open())).isEqualTo("second");
  }

  @Test
  void shouldReopenSessionsAtTheNewServer() {
    UpstreamLink old = open();
    upstream.replace(second);

    upstream.reopen(old, INITIALIZE, true);

    assertThat(serverOf(old)).isEqualTo("second");
  }

  @Test
  void shouldGiveEachServerOnlyItsHeaders() {
    UpstreamLink old = open();
    upstream.replace(second);

    assertThat(upstream.profile().forwardedHeaders()).containsExactlyInAnyOrder("first", "second");
    UpstreamSession _ = upstream.attach(old.with(SENDER));
    assertThat(first.latest.names()).containsExactly("first");
    UpstreamSession _ = upstream.attach(open().with(SENDER));
    assertThat(second.latest.names()).containsExactly("second");
  }

  @Test
  void shouldCloseServersWithoutSessions() {
    UpstreamLink old = open();
    upstream.replace(second);
    now = now.plus(Duration.ofMinutes(2));

    assertThat(upstream.closeUnused(List.of(old))).isFalse();
    assertThat(first.closed).isFalse();
    assertThat(upstream.closeUnused(List.of())).isFalse();
    assertThat(first.closed).isTrue();
    assertThat(second.closed).isFalse();
    assertThat(upstream.isChanged()).isFalse();
  }

  /** A session that was opened just before is not in the store yet. */
  @Test
  void shouldWaitBeforeItClosesAServer() {
    UpstreamLink _ = open();
    upstream.replace(second);

    assertThat(upstream.closeUnused(List.of())).isFalse();
    assertThat(first.closed).isFalse();
  }

  @Test
  void shouldServeItsSessionsAfterItsRemoval() {
    UpstreamLink old = open();
    upstream.remove();
    now = now.plus(Duration.ofMinutes(2));

    assertThat(upstream.profile().opensSessions()).isFalse();
    assertThat(serverOf(old)).isEqualTo("first");
    assertThat(upstream.closeUnused(List.of(old))).isFalse();
    upstream.replace(second);
    assertThat(upstream.profile().opensSessions()).isTrue();
    assertThat(serverOf(old)).isEqualTo("first");
    upstream.remove();
    now = now.plus(Duration.ofMinutes(2));
    assertThat(upstream.closeUnused(List.of())).isTrue();
    assertThat(List.of(first.closed, second.closed)).containsOnly(true);
  }

  /** A server that forwards a header of its name, and names its sessions. */
  private static final class Server implements Upstream {

    private final String name;
    private final Set<@Nullable String> open = new HashSet<>();
    private ForwardedHeaders latest = ForwardedHeaders.NONE;
    private boolean closed;

    Server(String name) {
      this.name = name;
    }

    @Override
    public Handshake initialize(Message.Request initialize, Caller opener) {
      return new Handshake(new byte[0], new UpstreamLink(name, "v"), List.of());
    }

    @Override
    public Profile profile() {
      return Profile.of(Set.of(name), false, false);
    }

    @Override
    public UpstreamSession attach(UpstreamLink link) {
      latest = link.headers();
      return new Session();
    }

    @Override
    public Placement placement(UpstreamLink link) {
      return new Placement.Pinned(name, true, open.contains(link.session()));
    }

    @Override
    public void reopen(UpstreamLink link, Message.Request initialize, boolean initialized) {
      open.add(link.session());
    }

    @Override
    public void close() {
      closed = true;
    }
  }

  private record Session() implements UpstreamSession {

    @Override
    public Answer request(Body requests) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void send(Body messages) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Optional<MessageSource> listen(@Nullable String after) {
      throw new UnsupportedOperationException();
    }

    @Override
    public MessageSource resume(String eventId) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void end() {}
  }
}
