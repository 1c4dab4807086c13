package dev.holdfast.http.socket;

import io.netty.channel.ChannelHandlerContext;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.ScheduledFuture;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.impl.ConnectionBase;
import io.vertx.ext.web.RoutingContext;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jboss.resteasy.reactive.server.spi.ServerHttpResponse;
import org.jboss.resteasy.reactive.server.spi.ServerRequestContext;
import org.jboss.resteasy.reactive.server.vertx.VertxResteasyReactiveRequestContext;

/**
 * The transport below a response: a TCP connection, or a stream of an HTTP/2 connection.
 *
 * <p>Vert.x closes a connection only after all pending bytes are sent. A client that does not read
 * would keep it open forever, so {@link #reset()} goes to the channel below.
 */
public final class ClientSocket implements ResponseTransport {

  /** RFC 9113, section 8.1: the response is complete, and the rest of the request not needed. */
  private static final long NO_ERROR = 0;

  /** RFC 9113, section 7: the stream is no longer needed. */
  private static final long CANCEL = 8;

  private static final int REQUEST_TIMEOUT = 408;

  /** A shorter body, of less than 100 kB, is worth discarding to keep the connection. */
  private static final int DISCARDED_DIGITS = 5;

  private static final Duration LINGER = Duration.ofSeconds(1);

  /** Reading more would take the time of other connections. */
  private static final long MAX_DISCARDED = 256 * 1024;

  private final ServerHttpResponse response;
  private final HttpServerRequest request;

  private ClientSocket(ServerHttpResponse response, HttpServerRequest request) {
    this.response = response;
    this.request = request;
  }

  /** Returns the transport of a request. */
  public static ClientSocket of(ServerRequestContext context) {
    return new ClientSocket(
        context.serverResponse(),
        ((VertxResteasyReactiveRequestContext) context).vertxServerRequest());
  }

  /**
   * Tells a client that waits for events that it needs this connection for nothing else. Before the
   * head is written.
   */
  public void closeAfterEvents() {
    if (request.version() == HttpVersion.HTTP_1_1) {
      request.response().putHeader(HttpHeaders.CONNECTION, HttpHeaders.CLOSE);
    }
  }

  /** Returns true if the client has left, or has the whole response. */
  public boolean isClosed() {
    return response.closed();
  }

  /**
   * Lets go of the request, whose response goes on: memory then holds a socket only. Nobody writes
   * meanwhile.
   *
   * @param onClosed runs when the connection is closed
   * @return the transport to use from now on: this one, if it cannot let go
   */
  public ResponseTransport detach(Runnable onClosed) {
    if (!request.response().headers().contains(HttpHeaders.CONNECTION, HttpHeaders.CLOSE, true)
        || request.version() != HttpVersion.HTTP_1_1
        || !(request.connection() instanceof ConnectionBase connection)) {
      return this;
    }
    ChannelHandlerContext context = connection.channelHandlerContext();
    CompletableFuture<ResponseTransport> detached = new CompletableFuture<>();
    context
        .executor()
        .execute(() -> {
          try {
            detached.complete(detach(context, onClosed));
          } catch (Throwable failure) {
            detached.completeExceptionally(failure);
          }
        });
    return detached.join();
  }

  private ResponseTransport detach(ChannelHandlerContext context, Runnable onClosed) {
    // Vert.x takes a body that nobody reads for one that has not ended.
    boolean isRead = !hasBody(request) || request.resume().isEnded();
    if (!isRead || response.closed() || !request.response().headWritten()) {
      return this;
    }
    DetachedResponse next = DetachedResponse.of(context, response::end, onClosed);
    return next == null ? this : next;
  }

  @Override
  public CompletionStage<Void> write(byte[] bytes) {
    return response.write(bytes);
  }

  @Override
  public void end(byte[] last) {
    if (last.length == 0) {
      response.end();
    } else {
      // Not by the framework, whose pooled buffers need a cache for each virtual thread.
      Future<Void> _ = request.response().end(Buffer.buffer(last));
    }
  }

  /** Tells the client to send its next request on another connection. */
  static void closeAfterResponse(RoutingContext routing) {
    HttpServerRequest request = routing.request();
    if (request.version() == HttpVersion.HTTP_2) {
      // Also answers the requests that are under way (RFC 9113, section 6.8).
      request.connection().goAway(NO_ERROR, Integer.MAX_VALUE);
    } else {
      request.response().putHeader(HttpHeaders.CONNECTION, HttpHeaders.CLOSE);
      routing.addEndHandler(_ -> {
        // A socket that is closed with unread bytes resets the connection.
        if (request.isEnded()) {
          request.connection().close();
        }
      });
    }
  }

  /**
   * Closes the transport once the response is sent, unless the rest of the request body has arrived
   * by then. The rest is discarded for a moment: a socket that is closed with unread bytes resets
   * the connection, and the client would lose the response.
   */
  static void closeUnlessRead(ServerRequestContext context, int status) {
    // Not the end handler of the response: there is only one, and Quarkus uses it.
    RoutingContext routing = ((VertxResteasyReactiveRequestContext) context).getContext();
    HttpServerRequest request = routing.request();
    if (request.isEnded() || !hasBody(request)) {
      return;
    }
    String length = request.getHeader(HttpHeaders.CONTENT_LENGTH);
    boolean chunked = request.headers().contains(HttpHeaders.TRANSFER_ENCODING);
    if (request.version() == HttpVersion.HTTP_2) {
      routing.addEndHandler(_ -> request.response().reset(NO_ERROR));
    } else if (request.connection() instanceof ConnectionBase connection) {
      if (status == REQUEST_TIMEOUT || chunked || length.length() > DISCARDED_DIGITS) {
        request.response().putHeader(HttpHeaders.CONNECTION, HttpHeaders.CLOSE);
      }
      EventExecutor eventLoop = connection.channelHandlerContext().executor();
      routing.addEndHandler(_ -> eventLoop.execute(() -> linger(request, connection, eventLoop)));
    }
  }

  private static boolean hasBody(HttpServerRequest request) {
    return request.headers().contains(HttpHeaders.TRANSFER_ENCODING)
        || request.headers().contains(HttpHeaders.CONTENT_LENGTH);
  }

  private static void linger(
      HttpServerRequest request, ConnectionBase connection, EventExecutor eventLoop) {
    if (request.isEnded() || !connection.channel().isOpen()) {
      return;
    }
    ScheduledFuture<?> close =
        eventLoop.schedule(() -> connection.close(), LINGER.toMillis(), TimeUnit.MILLISECONDS);
    AtomicLong discarded = new AtomicLong();
    request.handler(bytes -> {
      if (discarded.addAndGet(bytes.length()) > MAX_DISCARDED) {
        request.pause();
      }
    });
    request.endHandler(_ -> close.cancel(false));
    request.resume();
  }

  /**
   * Ends the response with a body. Returns at once.
   *
   * @param patience closes the transport when the client takes nothing for so long
   * @param taken runs once, when the socket has taken the body or the client is gone
   */
  public void end(byte[] body, Duration patience, Runnable taken) {
    Future<Void> written = request.response().end(Buffer.buffer(body));
    Future<Void> _ = written.onComplete(_ -> taken.run());
    if (request.connection() instanceof ConnectionBase connection && !written.isComplete()) {
      awaitProgress(connection.channelHandlerContext(), patience, written, Long.MAX_VALUE);
    }
  }

  private void awaitProgress(
      ChannelHandlerContext context, Duration patience, Future<Void> written, long pending) {
    ScheduledFuture<?> check =
        context
            .executor()
            .schedule(
                () -> {
                  long left = context.channel().bytesBeforeWritable();
                  if (left < pending) {
                    awaitProgress(context, patience, written, left);
                  } else {
                    reset();
                  }
                },
                patience.toMillis(),
                TimeUnit.MILLISECONDS);
    Future<Void> _ = written.onComplete(_ -> check.cancel(false));
  }

  @Override
  public void reset() {
    if (request.version() == HttpVersion.HTTP_2) {
      boolean _ = request.response().reset(CANCEL);
    } else if (request.connection() instanceof ConnectionBase connection) {
      ChannelHandlerContext context = connection.channelHandlerContext();
      context.executor().execute(() -> DetachedResponse.reset(context));
    }
  }
}
