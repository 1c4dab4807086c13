package dev.holdfast.upstream.http;

import static jdk.net.ExtendedSocketOptions.TCP_KEEPCOUNT;
import static jdk.net.ExtendedSocketOptions.TCP_KEEPIDLE;
import static jdk.net.ExtendedSocketOptions.TCP_KEEPINTERVAL;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.upstream.UpstreamException;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelException;
import io.netty.channel.socket.nio.NioChannelOption;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.impl.VertxInternal;
import io.vertx.core.net.SSLOptions;
import io.vertx.core.net.impl.ConnectionBase;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * All connections to one server, spread over a few event loops.
 *
 * <p>Calls and long-lived streams have separate pools. Vert.x searches a pool from end to end for
 * each request, so thousands of idle streams in it would slow the calls down.
 */
public final class HttpClients implements AutoCloseable {

  /**
   * Common servers (Node, Uvicorn) close an idle connection after 5 s. A request that meets such a
   * close fails, because the server may have seen it. So this side closes first.
   */
  private static final int KEEP_ALIVE_SECONDS = 3;

  /** A peer that is gone is noticed within a minute. The default of Linux is two hours. */
  private static final int KEEP_ALIVE_PROBE_SECONDS = 15;

  private static final int KEEP_ALIVE_PROBES = 3;

  /** As large as one read of the socket, so that a burst arrives in few chunks. */
  private static final int MAX_CHUNK_BYTES = 64 * 1024;

  private static final long CLOSE_SECONDS = 5;

  /** Enough to keep the processors busy while event loops wake the next readers. */
  private static final int TURNS_PER_PROCESSOR = 2;

  private final List<ConnectionPool> calls = new ArrayList<>();
  private final List<ConnectionPool> streams = new ArrayList<>();
  private final AtomicInteger turn = new AtomicInteger();

  /** Bytes of unfinished and waiting messages. */
  private final ByteBudget held;

  private final ReplayRecord replays = new ReplayRecord();
  private final Runnable endRenewals;
  private final Credentials credentials;

  private volatile boolean closed;

  /**
   * Creates the pools. They connect on demand.
   *
   * @param vertx runs the connections; stays open when they close
   * @param held budget of messages, which servers may share
   */
  public HttpClients(Vertx vertx, HttpUpstreamSettings settings, ByteBudget held) {
    this.held = held;
    HttpClientOptions options =
        new HttpClientOptions()
            .setConnectTimeout((int) Math.min(settings.connectTimeout().toMillis(), 1 << 30))
            .setKeepAliveTimeout(KEEP_ALIVE_SECONDS)
            .setMaxChunkSize(MAX_CHUNK_BYTES)
            .setTcpKeepAlive(true)
            .setTcpNoDelay(true);
    ClientTls tls = settings.tls();
    if (tls != null) {
      tls.configure(options);
      options.setUseAlpn(false); // It would offer HTTP/1.1 only.
    }
    ByteBudget unread = ByteBudget.ofHeap(16, 8 << 20);
    Semaphore turns =
        new Semaphore(TURNS_PER_PROCESSOR * Runtime.getRuntime().availableProcessors(), true);
    Semaphore freeCalls = new Semaphore(settings.maxConnections());
    Semaphore freeStreams = new Semaphore(settings.maxConnections());
    for (int i = 0; i < eventLoops(vertx); i++) {
      // Internal, since a public context is that of the calling thread: all pools would share it.
      Context loop = ((VertxInternal) vertx).createEventLoopContext();
      calls.add(ConnectionPool.create(vertx, options, loop, freeCalls, unread, turns));
      streams.add(ConnectionPool.create(vertx, options, loop, freeStreams, unread, turns));
    }
    credentials = settings.credentials();
    endRenewals = tls == null ? () -> {} : tls.onRenewal(this::renew);
  }

  /** Uses renewed certificates for new connections. Open connections go on. */
  private void renew(SSLOptions renewed) {
    SSLOptions options = new SSLOptions(renewed).setUseAlpn(false);
    Stream.of(calls, streams)
        .flatMap(List::stream)
        .filter(_ -> !closed)
        .forEach(pool -> pool.client().updateSSLOptions(options));
  }

  /**
   * The number of event loops: at most 4, because an event loop only copies bytes and one loop
   * feeds several parsing threads.
   */
  static int eventLoops(Vertx vertx) {
    // Internal, since the public method is deprecated.
    var loops = ((VertxInternal) vertx).getEventLoopGroup();
    return (int) StreamSupport.stream(loops.spliterator(), false).limit(4).count();
  }

  ConnectionPool nextForCall() {
    return calls.get(nextLoop());
  }

  ConnectionPool nextForStream() {
    return streams.get(nextLoop());
  }

  private int nextLoop() {
    return Math.floorMod(turn.getAndIncrement(), calls.size());
  }

  /** Throws {@link UpstreamException.Broken} after {@link #close}. */
  public void requireOpen() {
    if (closed) {
      throw new UpstreamException.Broken("the gateway closed its connections", null);
    }
  }

  ByteBudget held() {
    return held;
  }

  ReplayRecord replays() {
    return replays;
  }

  @Override
  public void close() {
    closed = true;
    endRenewals.run();
    credentials.close();
    var closing =
        Future.join(
                Stream.of(calls, streams)
                    .flatMap(List::stream)
                    .map(pool -> pool.client().close())
                    .toList())
            .toCompletionStage();
    try {
      closing.toCompletableFuture().get(CLOSE_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      // Only connections are lost, and they die with the process.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Connections to one server that stay on one event loop.
   *
   * @param eventLoop runs all code that touches the connections
   * @param client makes and keeps the connections; used on the event loop only
   * @param free permits for connections in use, shared with pools on other event loops
   * @param unread budget of received bytes that wait for a reader, also shared
   * @param turns permits for readers that process many bytes, also shared. A virtual thread keeps
   *     its processor until it waits, so a short call would wait for hundreds of such readers
   */
  record ConnectionPool(
      Context eventLoop, HttpClient client, Semaphore free, ByteBudget unread, Semaphore turns) {

    static ConnectionPool create(
        Vertx vertx,
        HttpClientOptions options,
        Context loop,
        Semaphore free,
        ByteBudget unread,
        Semaphore turns) {
      HttpClient client =
          vertx
              .httpClientBuilder()
              .with(options)
              // Never reached: the permits limit the connections of all event loops together.
              .with(new PoolOptions().setHttp1MaxSize(HttpUpstreamSettings.MOST_CONNECTIONS))
              .withConnectHandler(ConnectionPool::connected)
              .build();
      return new ConnectionPool(loop, client, free, unread, turns);
    }

    /** Sends keep-alives: calls may be silent for long, and their server or network may be gone. */
    private static void connected(HttpConnection connection) {
      // Each exchange handles its failures; without a handler Vert.x logs them as errors.
      connection.exceptionHandler(_ -> {});
      // Internal, since the public options have no interval of keep-alives.
      if (connection instanceof ConnectionBase base) {
        ChannelConfig socket = base.channel().config();
        try {
          socket.setOption(NioChannelOption.of(TCP_KEEPIDLE), KEEP_ALIVE_PROBE_SECONDS);
          socket.setOption(NioChannelOption.of(TCP_KEEPINTERVAL), KEEP_ALIVE_PROBE_SECONDS);
          socket.setOption(NioChannelOption.of(TCP_KEEPCOUNT), KEEP_ALIVE_PROBES);
        } catch (ChannelException closed) {
          // The exchange learns of it.
        }
      }
    }

    void run(Runnable task) {
      try {
        eventLoop.runOnContext(_ -> task.run());
      } catch (RejectedExecutionException _) {
        // The event loop has stopped, and with it its connections.
      }
    }

    /** On the event loop. A thread would put the next reader before all that event loops wake. */
    void releaseTurn() {
      if (turns.hasQueuedThreads()) {
        run(turns::release);
      } else {
        turns.release();
      }
    }
  }
}
