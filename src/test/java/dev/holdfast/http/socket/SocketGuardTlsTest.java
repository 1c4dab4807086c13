package dev.holdfast.http.socket;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import dev.holdfast.budget.Shares;
import dev.holdfast.testing.Certificates;
import dev.holdfast.testing.Certificates.Identity;
import dev.holdfast.testing.LoggedLines;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.ssl.SslHandler;
import io.vertx.core.http.HttpVersion;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Guards of sockets with TLS, whose clients must show certificates. */
class SocketGuardTlsTest {

  private static final Duration HEAD_TIMEOUT = Duration.ofSeconds(5);

  @TempDir static Path directory;

  @SuppressWarnings("NullAway.Init")
  private static Certificates authority;

  @SuppressWarnings("NullAway.Init")
  private static Identity server;

  private final EventLoopGroup loop = new NioEventLoopGroup(1);

  /** In the order of their first requests. */
  private final List<Channel> channels = new CopyOnWriteArrayList<>();

  @SuppressWarnings("NullAway.Init")
  private Channel listening;

  @BeforeAll
  static void issue() {
    authority = new Certificates(directory, "ours");
    server = authority.issue("server");
  }

  @BeforeEach
  void listen() throws Exception {
    SSLContext tls = authority.context(server);
    listening =
        new ServerBootstrap()
            .group(loop)
            .channel(NioServerSocketChannel.class)
            .childHandler(
                new ChannelInitializer<>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    initialize(channel, tls.createSSLEngine());
                  }
                })
            .bind(InetAddress.getLoopbackAddress(), 0)
            .sync()
            .channel();
  }

  /** Receives requests and answers none. */
  private void initialize(Channel channel, SSLEngine engine) {
    engine.setUseClientMode(false);
    engine.setNeedClientAuth(true);
    SocketGuard guard = new SocketGuard(new Shares<>(100), new Shares<>(100_000), HEAD_TIMEOUT);
    channel
        .pipeline()
        .addLast(new SslHandler(engine), new HttpRequestDecoder())
        .addLast(
            new ChannelInboundHandlerAdapter() {
              @Override
              public void channelRead(ChannelHandlerContext context, Object message) {
                if (message instanceof HttpRequest) {
                  guard.begin(HttpVersion.HTTP_1_1, channel);
                  channels.add(channel);
                }
              }
            });
    guard.guard(channel);
  }

  @AfterEach
  void close() {
    loop.shutdownGracefully(0, 0, TimeUnit.SECONDS).syncUninterruptibly();
  }

  private SSLSocket connect(@Nullable Identity shown) throws IOException {
    InetSocketAddress address = (InetSocketAddress) listening.localAddress();
    return (SSLSocket)
        authority
            .context(shown)
            .getSocketFactory()
            .createSocket(address.getAddress(), address.getPort());
  }

  private static void send(SSLSocket socket, String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(US_ASCII));
  }

  /** Before, the record counted as the beginning of another head, which never ended. */
  @Test
  void shouldLetClientsRenewTheirKeysDuringAStream() throws Exception {
    Identity shown = authority.issue("client");
    try (SSLSocket streaming = connect(shown);
        SSLSocket slow = connect(shown)) {
      send(streaming, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
      await().until(() -> channels.size() == 1);
      send(slow, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
      await().until(() -> channels.size() == 2);

      streaming.startHandshake(); // With TLS 1.3, this sends a KeyUpdate.
      send(slow, "GET / HTTP/1.1\r\n");

      // The guard closes the one that began later.
      assertThat(slow.getInputStream().read()).isEqualTo(-1);
      assertThat(streaming.getSession().getProtocol()).isEqualTo("TLSv1.3");
      assertThat(channels.getFirst().isOpen()).isTrue();
    }
  }

  @Test
  void shouldTellWhyAHandshakeFailed() throws Exception {
    Identity expired =
        authority.issue("old", Certificates.LOOPBACK, "-startdate", "-3d", "-validity", "1");
    try (LoggedLines lines = new LoggedLines(SocketGuard.class);
        SSLSocket socket = connect(expired)) {
      Throwable _ = catchThrowable(() -> send(socket, "GET / HTTP/1.1\r\n"));

      lines.await("TLS handshake of a client failed");
      assertThat(lines.lines())
          .anyMatch(line -> line.contains("reason=") && line.contains("expired"));
    }
  }
}
