package dev.holdfast.http;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.impl.ConnectionBase;
import io.vertx.ext.web.RoutingContext;
import org.jboss.resteasy.reactive.server.spi.ServerRequestContext;
import org.jboss.resteasy.reactive.server.vertx.VertxResteasyReactiveRequestContext;

/**
 * What lies below a response: a TCP connection, or a stream of an HTTP/2 connection.
 *
 * <p>A response of HTTP/1.1 cannot be cut off otherwise while its client does not read: Vert.x ends
 * a connection only after what waits to be sent, which is forever.
 */
final class ClientSocket {

  /** RFC 9113, section 8.1: the answer is whole, and the rest of the request not needed. */
  private static final long NO_ERROR = 0;

  /** RFC 9113, section 7: the stream is no longer needed. */
  private static final long CANCEL = 8;

  private final HttpServerRequest request;

  private ClientSocket(HttpServerRequest request) {
    this.request = request;
  }

  /** The one that a request came by. */
  static ClientSocket of(ServerRequestContext context) {
    return new ClientSocket(((VertxResteasyReactiveRequestContext) context).vertxServerRequest());
  }

  /** Has it closed once the answer was sent, whatever of the request is still to come. */
  static void closeAfterAnswer(ServerRequestContext context) {
    // Not by the response, which has one handler for its end: Quarkus sets it.
    RoutingContext routing = ((VertxResteasyReactiveRequestContext) context).getContext();
    HttpServerRequest request = routing.request();
    if (request.version() == HttpVersion.HTTP_2) {
      routing.addEndHandler(_ -> request.response().reset(NO_ERROR));
    } else {
      request.response().putHeader(HttpHeaders.CONNECTION, HttpHeaders.CLOSE);
      routing.addEndHandler(_ -> request.connection().close());
    }
  }

  /** Cuts off, and forgets what waits to be sent. From any thread; returns at once. */
  void reset() {
    if (request.version() == HttpVersion.HTTP_2) {
      boolean _ = request.response().reset(CANCEL);
    } else if (request.connection() instanceof ConnectionBase connection) {
      ChannelHandlerContext context = connection.channelHandlerContext();
      context.executor().execute(() -> reset(context));
    }
  }

  private static void reset(ChannelHandlerContext context) {
    Channel channel = context.channel();
    if (channel.isOpen()) {
      // Or the system keeps the bytes of a client that does not read, for as long as it answers.
      channel.config().setOption(ChannelOption.SO_LINGER, 0);
      // Not by the channel's own close, which Vert.x has wait behind the bytes.
      ChannelFuture _ = context.close();
    }
  }
}
