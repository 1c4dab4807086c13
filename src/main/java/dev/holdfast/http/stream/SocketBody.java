package dev.holdfast.http.stream;

import dev.holdfast.http.limit.ConnectionLimit;
import dev.holdfast.http.socket.ClientSocket;
import dev.holdfast.relay.tail.ClientConnection;
import dev.holdfast.relay.tail.Tail;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.MultivaluedMap;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.Provider;
import java.io.OutputStream;
import java.lang.annotation.Annotation;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jboss.resteasy.reactive.server.core.CurrentRequestManager;
import org.jboss.resteasy.reactive.server.spi.ResteasyReactiveResourceInfo;
import org.jboss.resteasy.reactive.server.spi.ServerMessageBodyWriter;
import org.jboss.resteasy.reactive.server.spi.ServerRequestContext;
import org.jspecify.annotations.Nullable;

/**
 * A response body that writes itself to the socket, and not to a stream of the framework.
 *
 * @param writer begins to write, after the headers are set
 */
public record SocketBody(Consumer<ServerRequestContext> writer) {

  /**
   * Returns a response that follows a stream, which proxies neither cache nor buffer. The tail
   * writes frame by frame.
   *
   * @param tail not yet running
   * @param slot released when the connection ends
   * @param credentials of the client, with which the stream ends; null for those that stay valid
   * @param waits true if the client needs its connection for these events only
   */
  public static Response stream(
      Tail tail, ConnectionLimit.Slot slot, @Nullable Credentials credentials, boolean waits) {
    return events(once(context -> follow(tail, slot, credentials, waits, context)));
  }

  /**
   * Returns a response with events, which proxies neither cache nor buffer.
   *
   * @param loop writes frames, and ends the connection
   * @param slot released when the connection ends
   */
  public static Response events(Consumer<ClientConnection> loop, ConnectionLimit.Slot slot) {
    return events(once(context -> loop.accept(connection(context, slot, null))));
  }

  private static Response events(SocketBody body) {
    return Response.ok(body, MediaType.SERVER_SENT_EVENTS_TYPE)
        .header(HttpHeaders.CACHE_CONTROL, "no-cache, no-transform")
        // For nginx.
        .header("X-Accel-Buffering", "no")
        .build();
  }

  /** Returns a check that is true once the client of the current request has left. */
  public static BooleanSupplier hasLeft() {
    ServerRequestContext context = CurrentRequestManager.get();
    return () -> context.serverResponse().closed();
  }

  /**
   * A body that begins to write also if the client leaves before the head: then the framework does
   * not write it, and nobody would give back what it holds.
   */
  private static SocketBody once(Consumer<ServerRequestContext> writer) {
    AtomicBoolean begun = new AtomicBoolean();
    Consumer<ServerRequestContext> once =
        context -> {
          if (begun.compareAndSet(false, true)) {
            writer.accept(context);
          }
        };
    ServerRequestContext context = CurrentRequestManager.get();
    Runnable closed =
        () -> {
          if (!begun.get()) {
            Thread _ = Thread.startVirtualThread(() -> once.accept(context));
          }
        };
    context.serverResponse().addCloseHandler(closed);
    if (context.serverResponse().closed()) {
      closed.run();
    }
    return new SocketBody(once);
  }

  private static void follow(
      Tail tail,
      ConnectionLimit.Slot slot,
      @Nullable Credentials credentials,
      boolean waits,
      ServerRequestContext context) {
    Credentials.Watch watch = credentials == null ? null : credentials.watch(tail);
    if (waits) {
      ClientSocket.of(context).closeAfterEvents();
    }
    tail.run(connection(context, slot, watch));
  }

  private static ClientConnection connection(
      ServerRequestContext context, ConnectionLimit.Slot slot, Credentials.@Nullable Watch watch) {
    return new HttpClientConnection(
        context.serverResponse(), ClientSocket.of(context), slot, watch);
  }

  /**
   * Returns a response with a JSON document.
   *
   * @param slot holds the bytes; released when the client has taken them, or is gone
   * @param patience time for which the client may take nothing
   */
  public static Response json(
      byte[] document, int status, ConnectionLimit.Slot slot, Duration patience) {
    slot.hold(document.length);
    Runnable taken =
        () -> {
          slot.giveBack();
          slot.release();
        };
    SocketBody body = once(context -> ClientSocket.of(context).end(document, patience, taken));
    return Response.status(status).entity(body).type(MediaType.APPLICATION_JSON_TYPE).build();
  }

  /** Lets the framework write bodies. */
  @Provider
  @Produces({MediaType.APPLICATION_JSON, MediaType.SERVER_SENT_EVENTS})
  public static final class Writer implements ServerMessageBodyWriter<SocketBody> {

    @Override
    public boolean isWriteable(
        Class<?> type, Type genericType, ResteasyReactiveResourceInfo target, MediaType mediaType) {
      return type == SocketBody.class;
    }

    @Override
    public boolean isWriteable(
        Class<?> type, Type genericType, Annotation[] annotations, MediaType mediaType) {
      return type == SocketBody.class;
    }

    @Override
    public void writeResponse(SocketBody body, Type genericType, ServerRequestContext context) {
      body.writer().accept(context);
    }

    /** Never called: this server calls {@link #writeResponse} instead. */
    @Override
    public void writeTo(
        SocketBody body,
        Class<?> type,
        Type genericType,
        Annotation[] annotations,
        MediaType mediaType,
        MultivaluedMap<String, Object> headers,
        OutputStream out) {
      throw new UnsupportedOperationException("the body is written to the socket");
    }
  }
}
