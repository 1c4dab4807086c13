package dev.holdfast.http.socket;

import dev.holdfast.budget.Shares;
import dev.holdfast.http.limit.ClientNetwork;
import dev.holdfast.http.limit.LimitsConfig;
import dev.holdfast.http.origin.HttpConfig;
import io.netty.bootstrap.ChannelInitializerExtension;
import io.netty.channel.Channel;
import io.quarkus.runtime.annotations.RegisterForReflection;
import io.quarkus.vertx.http.HttpServerOptionsCustomizer;
import io.vertx.core.http.HttpServerOptions;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Duration;
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

  /** Null until the server starts. */
  private static volatile @Nullable ServerSockets current;

  private final Shares<ClientNetwork> sockets;
  private final Shares<ClientNetwork> heads;
  private final Duration headTimeout;

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
  }

  @Override
  public void customizeHttpServer(HttpServerOptions options) {
    current = this;
  }

  @Override
  public void customizeHttpsServer(HttpServerOptions options) {
    current = this;
  }

  /** Tells of each new socket of a server. */
  @RegisterForReflection
  public static final class Extension extends ChannelInitializerExtension {
    @Override
    public void postInitializeServerChildChannel(Channel channel) {
      ServerSockets server = current;
      if (server != null) {
        new SocketGuard(server.sockets, server.heads, server.headTimeout).guard(channel);
      }
    }
  }
}
