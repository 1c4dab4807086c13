package dev.holdfast.http.socket;

import dev.holdfast.budget.LogRate;
import dev.holdfast.budget.Shares;
import dev.holdfast.http.limit.ClientNetwork;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.AttributeKey;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.ScheduledFuture;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.impl.ConnectionBase;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Guards one socket: counts it and its unfinished heads for its address, and closes it when the
 * head of a request takes too long. Between requests, an idle connection is the concern of {@code
 * quarkus.http.idle-timeout}.
 */
final class SocketGuard extends ChannelInboundHandlerAdapter {

  private static final Logger LOG = Logger.getLogger(SocketGuard.class);
  private static final LogRate RATE = new LogRate(Duration.ofSeconds(10));
  private static final AttributeKey<SocketGuard> KEY =
      AttributeKey.valueOf(SocketGuard.class.getName());

  private final Shares<ClientNetwork> sockets;
  private final Shares<ClientNetwork> heads;
  private final Duration headTimeout;
  private final AtomicInteger inProgress = new AtomicInteger();

  // The event loop owns these.
  private @Nullable ClientNetwork counted;
  private @Nullable ScheduledFuture<?> timeout;
  private @Nullable HttpServerRequest latest;
  private long headBytes;
  private boolean isHttp2;

  /**
   * Creates a guard.
   *
   * @param sockets counts the sockets of each client
   * @param heads counts the bytes of heads that are not complete
   */
  SocketGuard(Shares<ClientNetwork> sockets, Shares<ClientNetwork> heads, Duration headTimeout) {
    this.sockets = sockets;
    this.heads = heads;
    this.headTimeout = headTimeout;
  }

  /** Guards a socket that was just accepted. */
  void guard(Channel channel) {
    channel.attr(KEY).set(this);
    channel.pipeline().addFirst(this);
  }

  /** Returns the guard of a request's socket; null when it has none. */
  static @Nullable SocketGuard of(HttpServerRequest request) {
    return request.connection() instanceof ConnectionBase connection
        ? connection.channel().attr(KEY).get()
        : null;
  }

  @Override
  public void channelActive(ChannelHandlerContext context) throws Exception {
    if (context.channel().remoteAddress() instanceof InetSocketAddress peer) {
      ClientNetwork client = ClientNetwork.of(peer.getAddress().getHostAddress());
      if (!sockets.tryTake(client, 1)) {
        warn(client);
        ChannelFuture _ = context.close();
        return;
      }
      counted = client;
    }
    startTimeout(context);
    super.channelActive(context);
  }

  private static void warn(ClientNetwork client) {
    RATE.next()
        .ifPresent(leftOut ->
            LOG.warnf(
                "Closed a connection of a client with too many, or too large heads: client=%s, not"
                    + " logged before=%d",
                client.name(), leftOut));
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object bytes) throws Exception {
    if (awaitsHead() && !takeHead(bytes)) {
      ReferenceCountUtil.release(bytes);
      ChannelFuture _ = context.close();
      return;
    }
    HttpServerRequest before = latest;
    super.channelRead(context, bytes);
    if (!Objects.equals(latest, before)) {
      giveBackHead();
    } else if (inProgress.get() == 0 && timeout == null && !isHttp2) {
      // What arrives between two requests and does not begin one is a part of a head.
      startTimeout(context);
    }
  }

  /** Not after a refusal while the rest of the body is discarded. */
  private boolean awaitsHead() {
    return inProgress.get() == 0 && !isHttp2 && (latest == null || latest.isEnded());
  }

  /** Takes the bytes of a head before the decoder makes many objects of them. */
  private boolean takeHead(Object bytes) {
    if (counted == null || !(bytes instanceof ByteBuf buffer)) {
      return true;
    }
    if (!heads.tryTake(counted, buffer.readableBytes())) {
      warn(counted);
      return false;
    }
    headBytes += buffer.readableBytes();
    return true;
  }

  private void giveBackHead() {
    if (counted != null && headBytes > 0) {
      heads.giveBack(counted, headBytes);
      headBytes = 0;
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

  /** Notes that the head of a request is complete. On the event loop. */
  void begin(HttpServerRequest request) {
    latest = request;
    inProgress.incrementAndGet();
    isHttp2 = request.version() == HttpVersion.HTTP_2;
    cancelTimeout();
  }

  /** Notes that a request was answered. From any thread. */
  void end() {
    inProgress.decrementAndGet();
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) throws Exception {
    cancelTimeout();
    giveBackHead();
    if (counted != null) {
      sockets.giveBack(counted, 1);
      counted = null;
    }
    super.channelInactive(context);
  }
}
