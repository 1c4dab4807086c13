package dev.holdfast.http.socket;

import dev.holdfast.budget.Shares;
import dev.holdfast.http.limit.Client;
import dev.holdfast.http.limit.LimitsConfig;
import dev.holdfast.http.origin.HttpConfig;
import io.netty.bootstrap.ChannelInitializerExtension;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ServerChannel;
import io.quarkus.runtime.annotations.RegisterForReflection;
import io.quarkus.runtime.configuration.ConfigurationException;
import io.quarkus.vertx.http.HttpServerOptionsCustomizer;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.ext.web.RoutingContext;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.jspecify.annotations.Nullable;

/**
 * Guards the sockets that the server accepts. Vert.x has no hook before the first request, so Netty
 * finds {@link Extension} by the name in {@code META-INF/services}, when {@code
 * io.netty.bootstrap.extensions} tells it to look there.
 */
@Singleton
public final class ServerSockets implements HttpServerOptionsCustomizer {

  /** Idle connections have a socket, too, so there are more of these than connections in use. */
  private static final int SOCKETS_PER_CONNECTION = 2;

  /**
   * Part of the heap that unfinished heads of one client may have as bytes on the wire. The decoder
   * makes objects of a header with four bytes that take forty times as much.
   */
  private static final int HEAP_FRACTION = 180;

  /** Time for which a stopping server waits for the next request on idle connections. */
  private static final Duration GRACE = Duration.ofMillis(500);

  /** Most time that it waits, also if clients send one request after the other. */
  private static final Duration MAX_GRACE = Duration.ofSeconds(2);

  /** Null until the server starts. */
  private static volatile @Nullable ServerSockets current;

  private final Shares<Client> sockets;
  private final Shares<Client> heads;
  private final Duration headTimeout;
  private final boolean requireClientCertificate;
  private final Set<Channel> listeners = ConcurrentHashMap.newKeySet();
  private final AtomicInteger open = new AtomicInteger();
  private final LastRequests lastRequests = new LastRequests(GRACE, MAX_GRACE);
  private volatile boolean draining;

  @Inject
  ServerSockets(
      LimitsConfig limits,
      HttpConfig http,
      @ConfigProperty(name = "quarkus.http.proxy.proxy-address-forwarding", defaultValue = "false")
          boolean behindProxy) {
    // The sockets of all clients come from the addresses of their proxies.
    sockets =
        new Shares<>(
            behindProxy
                ? Long.MAX_VALUE
                : (long) SOCKETS_PER_CONNECTION * limits.connectionsPerAddress());
    heads =
        new Shares<>(
            behindProxy ? Long.MAX_VALUE : Runtime.getRuntime().maxMemory() / HEAP_FRACTION);
    headTimeout = http.headTimeout();
    requireClientCertificate = http.requireClientCertificate();
  }

  @Override
  public void customizeHttpServer(HttpServerOptions options) {
    current = this;
  }

  @Override
  public void customizeHttpsServer(HttpServerOptions options) {
    current = this;
    if (requireClientCertificate) {
      if (options.getTrustOptions() == null) {
        // Java would trust the certificates of every public authority.
        throw new ConfigurationException(
            "holdfast.http.require-client-certificate needs the authority of the clients: set"
                + " trust-store of the TLS configuration, such as"
                + " quarkus.tls.<name>.trust-store.pem.certs=clients-ca.crt");
      }
      options.setClientAuth(ClientAuth.REQUIRED);
    }
  }

  /** From now on, each response is the last one on its connection. */
  public void drain() {
    draining = true;
  }

  /** Notes a request. While the server drains, its response is the last one on its connection. */
  void begin(RoutingContext routing) {
    if (draining) {
      ClientSocket.closeAfterResponse(routing);
      lastRequests.began();
      int _ = routing.addEndHandler(_ -> lastRequests.ended());
    }
  }

  /**
   * Accepts no more connections. Returns when all are closed, or none of the others had a request
   * for a while, but after {@link #MAX_GRACE} at the latest. Otherwise a request that is under way
   * to an idle connection would get no answer. Call {@link #drain} first, and let the server still
   * answer.
   */
  public void close() throws InterruptedException {
    for (Channel listener : listeners) {
      ChannelFuture _ = listener.close();
    }
    lastRequests.await(() -> open.get() > 0);
  }

  /** Tells of each new socket of a server. */
  @RegisterForReflection
  public static final class Extension extends ChannelInitializerExtension {
    @Override
    public void postInitializeServerListenerChannel(ServerChannel channel) {
      ServerSockets server = current;
      if (server != null) {
        server.listeners.add(channel);
      }
    }

    @Override
    public void postInitializeServerChildChannel(Channel channel) {
      ServerSockets server = current;
      if (server != null) {
        new SocketGuard(server.sockets, server.heads, server.headTimeout).guard(channel);
        server.open.incrementAndGet();
        channel.closeFuture().addListener(_ -> server.open.decrementAndGet());
      }
    }
  }
}
