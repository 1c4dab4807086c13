package dev.holdfast.bridge;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.holdfast.bridge.BridgeSession.SessionUnavailableException;
import dev.holdfast.call.Caller;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamSession;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Sessions that replace a lost one. */
class BridgeSessionTest {

  private final Server server = new Server();
  private final BridgeSession bridgeSession =
      new BridgeSession(server, new ClientOutput(new ByteArrayOutputStream()));

  @Test
  void shouldEndSessionThatRefusesInitialized() {
    open();
    bridgeSession.lost(bridgeSession.session());
    server.refusesMessages = true;

    assertThatExceptionOfType(UpstreamException.Broken.class).isThrownBy(bridgeSession::session);

    assertThat(server.ended).containsExactly("session 2");
    server.refusesMessages = false;
    assertThat(bridgeSession.session().protocolVersion()).isEqualTo("2025-11-25");
    assertThat(server.ended).containsExactly("session 2");
  }

  @Test
  void shouldEndSessionOfAnotherVersion() {
    open();
    bridgeSession.lost(bridgeSession.session());
    server.version = "2025-06-18";

    assertThatExceptionOfType(SessionUnavailableException.class).isThrownBy(bridgeSession::session);

    assertThat(server.ended).containsExactly("session 2");
  }

  private void open() {
    Body initialize =
        body("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{}}");
    BridgeSession.Opening attempt =
        bridgeSession.begin((Message.Request) ((Body.Single) initialize).message());
    assertThat(attempt.previous()).isNull();
    bridgeSession.open(attempt);
    bridgeSession.initialized(
        body("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"));
  }

  private static Body body(String json) {
    return Envelopes.read(json.getBytes(UTF_8));
  }

  /** Opens any number of sessions, and may refuse their messages. Used by one thread. */
  private static final class Server implements Upstream {

    private final List<String> ended = new ArrayList<>();
    private String version = "2025-11-25";
    private boolean refusesMessages;
    private int sessions;

    @Override
    public Handshake initialize(Message.Request initialize, Caller opener) {
      sessions++;
      UpstreamLink link = new UpstreamLink("session " + sessions, version);
      return new Handshake("{}".getBytes(UTF_8), link, List.of());
    }

    @Override
    public UpstreamSession attach(UpstreamLink link) {
      return new Session(String.valueOf(link.session()));
    }

    @Override
    public void close() {
      // Nothing to close.
    }

    private final class Session implements UpstreamSession {

      private final String name;

      private Session(String name) {
        this.name = name;
      }

      @Override
      public Answer request(Body requests) {
        throw new UnsupportedOperationException();
      }

      @Override
      public void send(Body messages) {
        if (refusesMessages) {
          throw new UpstreamException.Broken("refused", null);
        }
      }

      @Override
      public Optional<MessageSource> listen(@Nullable String after) {
        return Optional.empty();
      }

      @Override
      public MessageSource resume(String eventId) {
        throw new UnsupportedOperationException();
      }

      @Override
      public void end() {
        ended.add(name);
      }
    }
  }
}
