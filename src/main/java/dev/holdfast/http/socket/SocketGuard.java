package dev.holdfast.http.socket;

import dev.holdfast.budget.LogRate;
import dev.holdfast.budget.Shares;
import dev.holdfast.http.limit.Client;
import dev.holdfast.text.Reason;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.AttributeKey;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.ScheduledFuture;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.impl.ConnectionBase;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Guards one socket: counts it for its address, and what it sends ahead: unfinished heads, and
 * requests that wait for the response to the one before. It closes the socket when the head of a
 * request takes too long. Between requests, an idle connection is the concern of {@code
 * quarkus.http.idle-timeout}.
 */
final class SocketGuard extends ChannelInboundHandlerAdapter {

  private static final Logger LOG = Logger.getLogger(SocketGuard.class);
  private static final LogRate RATE = new LogRate(Duration.ofSeconds(10));
  private static final LogRate HANDSHAKES = new LogRate(Duration.ofSeconds(10));
  private static final AttributeKey<SocketGuard> KEY =
      AttributeKey.valueOf(SocketGuard.class.getName());

  private final Shares<Client> sockets;
  private final Shares<Client> heads;
  private final Duration headTimeout;

  // The event loop owns these.
  private @Nullable Client client;
  private @Nullable ScheduledFuture<?> timeout;
  private boolean isHttp2;
  private boolean hasDecoder;
  private boolean hasRead;

  /** True if {@link DecryptedBytes} counts instead of this handler. */
  private boolean decrypts;

  /** Bytes that the decoder has not decoded yet; null when it has decoded all. */
  private @Nullable ByteBuf undecoded;

  /** True if the head of a request has arrived, but not the end of its body. */
  private boolean inBody;

  /** Requests whose heads have arrived, and which have not begun. */
  private int waiting;

  /** Bytes of the head that has begun to arrive. */
  private long headBytes;

  /** Bytes that are counted: of that head, and of all that has arrived since a request waits. */
  private long counted;

  /**
   * Creates a guard.
   *
   * @param sockets counts the sockets of each client
   * @param heads counts the bytes that clients have sent ahead
   */
  SocketGuard(Shares<Client> sockets, Shares<Client> heads, Duration headTimeout) {
    this.sockets = sockets;
    this.heads = heads;
    this.headTimeout = headTimeout;
  }

  /** Guards a socket that was just accepted. */
  void guard(Channel channel) {
    channel.attr(KEY).set(this);
    channel.pipeline().addFirst(this);
  }

  /**
   * Returns the guard of a request's socket; null when it has none. Uses an internal class of
   * Vert.x, since nothing else tells the channel of a connection.
   */
  static @Nullable SocketGuard of(HttpServerRequest request) {
    return request.connection() instanceof ConnectionBase connection
        ? connection.channel().attr(KEY).get()
        : null;
  }

  @Override
  public void channelActive(ChannelHandlerContext context) throws Exception {
    if (context.channel().remoteAddress() instanceof InetSocketAddress peer) {
      Client network = Client.at(peer.getAddress().getHostAddress());
      if (!sockets.tryTake(network, 1)) {
        warn(network);
        ChannelFuture _ = context.close();
        return;
      }
      client = network;
    }
    startTimeout(context);
    super.channelActive(context);
  }

  private static void warn(Client client) {
    RATE.warn(
        LOG,
        "connection closed: too many unfinished or oversized request headers client=%s",
        client.name());
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object bytes) throws Exception {
    if (!hasRead) {
      hasRead = true;
      watchHandshake(context.pipeline().get(SslHandler.class));
    }
    findDecoder(context.channel());
    if (decrypts || arrived(context, bytes)) {
      super.channelRead(context, bytes);
    }
  }

  private void watchHandshake(@Nullable SslHandler tls) {
    if (tls != null) {
      tls.handshakeFuture()
          .addListener(handshake -> {
            if (!handshake.isSuccess() && client != null) {
              String reason = Reason.of(handshake.cause());
              HANDSHAKES.info(
                  LOG,
                  "TLS handshake of a client failed client=%s reason=%s",
                  client.name(),
                  reason);
            }
          });
    }
  }

  /** Counts decrypted bytes: records of TLS may renew keys, and are no beginning of a head. */
  private final class DecryptedBytes extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext context, Object bytes) throws Exception {
      if (arrived(context, bytes)) {
        super.channelRead(context, bytes);
      }
    }
  }

  /** Returns false if the bytes are too many: then they are released, and the socket is closed. */
  private boolean arrived(ChannelHandlerContext context, Object bytes) {
    if (isHttp2 || !(bytes instanceof ByteBuf buffer) || arrived(context, buffer.readableBytes())) {
      return true;
    }
    ReferenceCountUtil.release(bytes);
    ChannelFuture _ = context.close();
    return false;
  }

  /** With TLS the decoder exists after the handshake. */
  private void findDecoder(Channel channel) {
    ChannelHandlerContext decoder =
        hasDecoder ? null : channel.pipeline().context(HttpRequestDecoder.class);
    if (decoder != null) {
      hasDecoder = true;
      decrypts = channel.pipeline().get(SslHandler.class) != null;
      if (decrypts) {
        channel.pipeline().addBefore(decoder.name(), null, new DecryptedBytes());
      }
      ((ByteToMessageDecoder) decoder.handler())
          .setCumulator((allocator, before, more) -> {
            undecoded = ByteToMessageDecoder.MERGE_CUMULATOR.cumulate(allocator, before, more);
            return undecoded;
          });
      channel.pipeline().addAfter(decoder.name(), null, new DecodedRequests());
    }
  }

  /** Counts bytes before the decoder makes many objects of them. */
  private boolean arrived(ChannelHandlerContext context, int bytes) {
    if (!inBody) {
      headBytes += bytes;
      if (timeout == null) {
        startTimeout(context);
      }
    }
    // ClientBytes counts the body of a request that has begun.
    return (inBody && waiting == 0) || count(counted + bytes);
  }

  private boolean count(long bytes) {
    if (client == null) {
      return true;
    }
    if (bytes > counted && !heads.tryTake(client, bytes - counted)) {
      warn(client);
      return false;
    }
    if (bytes < counted) {
      heads.giveBack(client, counted - bytes);
    }
    counted = bytes;
    return true;
  }

  /** Notes that the handling of a request begins. On the event loop. */
  void begin(HttpServerRequest request) {
    begin(request.version(), ((ConnectionBase) request.connection()).channel());
  }

  void begin(HttpVersion version, Channel channel) {
    isHttp2 = version == HttpVersion.HTTP_2;
    if (isHttp2 || !hasDecoder) {
      headIsComplete();
    }
    findDecoder(channel);
    if (--waiting == 0) {
      boolean _ = count(headBytes);
    }
  }

  private void headIsComplete() {
    cancelTimeout();
    inBody = true;
    waiting++;
    headBytes = 0;
  }

  /** Sees what the decoder makes, one by one, before the decoder continues with the next bytes. */
  final class DecodedRequests extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) throws Exception {
      if (undecoded != null && undecoded.refCnt() == 0) {
        // The decoder releases a buffer before it passes on the last message in it.
        undecoded = null;
      }
      if (message instanceof HttpRequest) {
        headIsComplete();
      }
      if (message instanceof LastHttpContent) {
        requestIsComplete(context);
      }
      super.channelRead(context, message);
    }

    /** The rest of the same packet is the beginning of the next head. */
    private void requestIsComplete(ChannelHandlerContext context) {
      inBody = false;
      headBytes = undecoded == null ? 0 : undecoded.readableBytes();
      if (headBytes > 0) {
        startTimeout(context);
      }
      if (waiting == 0 && !count(headBytes)) {
        ChannelFuture _ = context.close();
      }
    }
  }

  private void startTimeout(ChannelHandlerContext context) {
    timeout =
        context
            .executor()
            .schedule(
                () -> {
                  ChannelFuture _ = context.close();
                },
                headTimeout.toMillis(),
                TimeUnit.MILLISECONDS);
  }

  private void cancelTimeout() {
    if (timeout != null) {
      timeout.cancel(false);
      timeout = null;
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) throws Exception {
    cancelTimeout();
    if (client != null) {
      boolean _ = count(0);
      sockets.giveBack(client, 1);
      client = null;
    }
    super.channelInactive(context);
  }
}
