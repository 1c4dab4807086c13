package dev.holdfast.http.socket;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpContentEncoder;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.timeout.IdleStateHandler;
import io.netty.util.ReferenceCountUtil;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The rest of a response in chunks (RFC 9112, section 7.1), whose request is forgotten. A client
 * that waits for events keeps its connection for hours. It needs a socket for that, but neither the
 * request with its headers nor what decodes further ones. The request was the last one on its
 * connection, which ends with the response.
 */
final class DetachedResponse extends ChannelDuplexHandler implements ResponseTransport {

  private static final byte[] END_OF_CHUNK = {'\r', '\n'};
  private static final byte[] LAST_CHUNK = {'0', '\r', '\n', '\r', '\n'};

  private final Runnable onClosed;

  /** Set when the handler is added, at once. */
  @SuppressWarnings("NullAway.Init")
  private ChannelHandlerContext below;

  /** True while the framework ends the response, of which the client must not hear. */
  private boolean isEnding = true;

  private DetachedResponse(Runnable onClosed) {
    this.onClosed = onClosed;
  }

  /**
   * Takes over a response. On the event loop, after its head was written.
   *
   * @param vertx the context of the handler that knows the connection, and stays
   * @param end ends the response for the framework, which then forgets the request
   * @param onClosed runs when the connection is closed
   * @return null if the connection has handlers that this class does not know
   */
  static @Nullable DetachedResponse of(
      ChannelHandlerContext vertx, Runnable end, Runnable onClosed) {
    ChannelPipeline pipeline = vertx.pipeline();
    if (pipeline.get(HttpResponseEncoder.class) == null
        || pipeline.get(HttpContentEncoder.class) != null) {
      return null;
    }
    DetachedResponse response = new DetachedResponse(onClosed);
    ChannelHandler _ = pipeline.replace(HttpResponseEncoder.class, null, response);
    end.run();
    response.isEnding = false;
    remove(pipeline, IdleStateHandler.class);
    remove(pipeline, HttpRequestDecoder.class);
    remove(pipeline, SocketGuard.DecodedRequests.class);
    return response;
  }

  private static void remove(ChannelPipeline pipeline, Class<? extends ChannelHandler> handler) {
    if (pipeline.get(handler) != null) {
      ChannelHandler _ = pipeline.remove(handler);
    }
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    below = context;
  }

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    if (isEnding) {
      ReferenceCountUtil.release(message);
      boolean _ = promise.trySuccess();
    } else {
      ChannelFuture _ = context.write(message, promise);
    }
  }

  /** The framework closes the connection after the last request. */
  @Override
  public void close(ChannelHandlerContext context, ChannelPromise promise) {
    if (isEnding) {
      boolean _ = promise.trySuccess();
    } else {
      ChannelFuture _ = context.close(promise);
    }
  }

  @Override
  public CompletionStage<Void> write(byte[] bytes) {
    CompletableFuture<Void> taken = new CompletableFuture<>();
    ChannelFuture _ =
        below
            .writeAndFlush(chunk(bytes))
            .addListener(written -> {
              if (written.isSuccess()) {
                taken.complete(null);
              } else {
                taken.completeExceptionally(written.cause());
              }
            });
    return taken;
  }

  private static ByteBuf chunk(byte[] bytes) {
    byte[] size = (Integer.toHexString(bytes.length) + "\r\n").getBytes(US_ASCII);
    return Unpooled.wrappedBuffer(size, bytes, END_OF_CHUNK);
  }

  @Override
  public void end(byte[] last) {
    ByteBuf end = Unpooled.wrappedBuffer(LAST_CHUNK);
    ChannelFuture _ =
        below
            .writeAndFlush(last.length == 0 ? end : Unpooled.wrappedBuffer(chunk(last), end))
            .addListener(ChannelFutureListener.CLOSE);
  }

  @Override
  public void reset() {
    below.executor().execute(() -> reset(below));
  }

  /** Closes a connection and discards pending bytes. On the event loop. */
  static void reset(ChannelHandlerContext context) {
    Channel channel = context.channel();
    if (channel.isOpen()) {
      // Otherwise the kernel keeps the bytes while a client is alive and does not read.
      channel.config().setOption(ChannelOption.SO_LINGER, 0);
      // Not channel.close(): in Vert.x it waits behind the pending bytes.
      ChannelFuture _ = context.close();
    }
  }

  /** The client has heard that its request was the last one on this connection. */
  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    ReferenceCountUtil.release(message);
    ChannelFuture _ = context.close();
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) throws Exception {
    onClosed.run();
    super.channelInactive(context);
  }
}
