package dev.holdfast.http.socket;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.budget.Shares;
import dev.holdfast.http.limit.Client;
import dev.holdfast.testing.LoggedLines;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.vertx.core.http.HttpVersion;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SocketGuardTest {

  private static final String GET = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
  private static final String POST =
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nbody";
  private static final int MOST = 1000;

  private final Shares<Client> sockets = new Shares<>(1);
  private final Shares<Client> heads = new Shares<>(MOST);
  private final SocketGuard guard = new SocketGuard(sockets, heads, Duration.ofSeconds(30));
  private final Server server = new Server();
  private final Socket socket = new Socket();

  /** A socket of an address, which the test moves through time. */
  private static final class Socket extends EmbeddedChannel {
    Socket() {
      super(false, false);
    }

    @Override
    protected SocketAddress remoteAddress0() {
      return new InetSocketAddress("127.0.0.9", 999);
    }
  }

  /** Handles a request as soon as the response to the one before has ended, as Vert.x does. */
  private final class Server extends ChannelInboundHandlerAdapter {
    private boolean responds;
    private int waiting;

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      if (message instanceof HttpRequest) {
        waiting++;
        next();
      }
    }

    void next() {
      if (!responds && waiting > 0) {
        responds = true;
        waiting--;
        guard.begin(HttpVersion.HTTP_1_1, socket);
      }
    }

    void respond() {
      responds = false;
      next();
    }
  }

  @BeforeEach
  void open() throws Exception {
    socket.pipeline().addLast(new HttpRequestDecoder(), server);
    guard.guard(socket);
    socket.register();
  }

  @AfterEach
  void close() {
    boolean _ = socket.close().isDone();
    assertThat(sockets.size()).isZero();
    assertThat(heads.size()).isZero();
  }

  private void send(String bytes) {
    socket.writeInbound(Unpooled.copiedBuffer(bytes, US_ASCII));
  }

  /** Lets time pass, and tells whether the socket is still open. */
  private boolean isOpenAfter(int seconds) {
    socket.advanceTimeBy(seconds, TimeUnit.SECONDS);
    socket.runScheduledPendingTasks();
    return socket.isOpen();
  }

  @ParameterizedTest
  @ValueSource(strings = {GET, POST})
  void shouldLeaveIdleSocketsOpen(String request) {
    send(request);
    server.respond();

    assertThat(heads.size()).isZero();
    assertThat(isOpenAfter(60)).isTrue();
  }

  /** Before, a head in the same packet as a complete request had no limits. */
  @ParameterizedTest
  @ValueSource(strings = {GET, POST})
  void shouldLimitAHeadBehindACompleteRequest(String request) {
    send(request + "GET /");

    assertThat(heads.size()).isOne();
    assertThat(isOpenAfter(29)).isTrue();
    assertThat(isOpenAfter(2)).isFalse();
  }

  @Test
  void shouldGiveAHeadBackThatBecomesComplete() {
    send(GET + GET.substring(0, 20));
    server.respond();
    send(GET.substring(20));

    assertThat(heads.size()).isZero();
    assertThat(isOpenAfter(60)).isTrue();
  }

  @Test
  void shouldCountAHeadInSeveralPackets() {
    send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nbo");
    send("dyGET / HTTP/1.1\r\nHost: loc");
    send("alhost\r\nX: " + "x".repeat(MOST - 60));

    assertThat(socket.isOpen()).isTrue();
    send("x".repeat(60));
    assertThat(socket.isOpen()).isFalse();
  }

  /** Before, requests without end could wait for the end of a stream. */
  @Test
  void shouldLimitRequestsThatWaitForTheOneBefore() {
    send(GET);
    int sent = 0;
    while (socket.isOpen()) {
      send(POST);
      sent++;
    }

    assertThat(sent).isEqualTo(MOST / POST.length() + 1);
  }

  @Test
  void shouldAcceptRequestsThatWaitOneAfterTheOther() {
    send(GET);
    for (int sent = 0; sent < MOST; sent++) {
      send(POST + POST);
      server.respond();
      server.respond();
    }

    assertThat(socket.isOpen()).isTrue();
    assertThat(heads.size()).isZero();
  }

  /** {@code ClientBytes} counts them. */
  @Test
  void shouldNotCountBodies() {
    send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n");
    for (int i = 0; i < 10; i++) {
      send("x".repeat(10_000));
    }

    assertThat(heads.size()).isZero();
    assertThat(isOpenAfter(60)).isTrue();
  }

  /** A line for each would let a client fill the disk. */
  @Test
  void shouldLogOnceInAWhileThatItCloses() {
    try (LoggedLines log = new LoggedLines(SocketGuard.class)) {
      log.awaitRepeating(
          "connection closed: too many unfinished or oversized request headers client=127.0.0",
          () -> {
            EmbeddedChannel other = new Socket();
            other.pipeline().addLast(new HttpRequestDecoder());
            new SocketGuard(sockets, heads, Duration.ofSeconds(30)).guard(other);
            try {
              other.register();
            } catch (Exception failed) {
              throw new AssertionError(failed);
            }
            assertThat(other.isOpen()).isFalse();
          });
    }
  }
}
