package dev.holdfast.http.stream;

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
 * The transport below a response: a TCP connection, or a stream of an HTTP/2 connection.
 *
 * <p>Vert.x closes a connection only after all pending bytes are sent. A client that does not read
 * would keep it open forever, so {@link #reset()} goes to the channel below.
 */
final class ClientSocket {

  /** RFC 9113, section 8.1: the response is complete, and the rest of the request not needed. */
  private static final long NO_ERROR = 0;

  /** RFC 9113, section 7: the stream is no longer needed. */
  private static final long CANCEL = 8;

  private final HttpServerRequest request;

  private ClientSocket(HttpServerRequest request) {
    this.request = request;
  }

  static ClientSocket of(ServerRequestContext context) {
    return new ClientSocket(((VertxResteasyReactiveRequestContext) context).vertxServerRequest());
  }

  /** Closes the transport once the response is sent, even if the request body is incomplete. */
  static void closeAfterResponse(ServerRequestContext context) {
    // Not the end handler of the response: there is only one, and Quarkus uses it.
    RoutingContext routing = ((VertxResteasyReactiveRequestContext) context).getContext();
    HttpServerRequest request = routing.request();
    if (request.version() == HttpVersion.HTTP_2) {
      routing.addEndHandler(_ -> request.response().reset(NO_ERROR));
    } else {
      request.response().putHeader(HttpHeaders.CONNECTION, HttpHeaders.CLOSE);
      routing.addEndHandler(_ -> request.connection().close());
    }
  }

  /** Closes the transport and discards pending bytes. From any thread; returns at once. */
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
      // Otherwise the kernel keeps the bytes while a client is alive and does not read.
      channel.config().setOption(ChannelOption.SO_LINGER, 0);
      // Not channel.close(): in Vert.x it waits behind the pending bytes.
      ChannelFuture _ = context.close();
    }
  }
}
