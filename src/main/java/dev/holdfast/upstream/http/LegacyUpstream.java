package dev.holdfast.upstream.http;

import dev.holdfast.call.Caller;
import dev.holdfast.protocol.Message;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.Profile;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.channel.Channel;
import dev.holdfast.upstream.channel.ChannelUpstream;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/**
 * A server that speaks HTTP+SSE, the transport of 2024-11-05. One connection carries all messages
 * of the server in a session, so the session is pinned to the replica with that connection.
 *
 * @see <a
 *     href="https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse">MCP
 *     2024-11-05, Transports, HTTP with SSE</a>
 */
public final class LegacyUpstream extends ChannelUpstream {

  /** Marks our session ids. Ids of servers have no spaces (MCP 2025-11-25, Transports). */
  private static final String PREFIX = "sse ";

  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

  /** Time for the {@code endpoint} event of a server whose transport is unknown. */
  private static final Duration DETECTION_TIMEOUT = Duration.ofSeconds(10);

  private final HttpClients clients;
  private final HttpUpstreamSettings settings;
  private final Profile profile;

  /** Connects on demand, with connections that it closes. */
  public LegacyUpstream(HttpClients clients, HttpUpstreamSettings settings) {
    super(settings.channel(), CLOSE_TIMEOUT);
    this.clients = clients;
    this.settings = settings;
    this.profile = settings.profile(settings.channel().respawn());
  }

  /** Returns true if an upstream of this kind opened the session, on any replica. */
  public static boolean isLegacySession(UpstreamLink link) {
    String session = link.session();
    return session != null && session.startsWith(PREFIX);
  }

  @Override
  protected String newName() {
    return PREFIX + super.newName();
  }

  @Override
  protected Channel start(UpstreamLink link, Consumer<Channel> whenGone) {
    return start(link, whenGone, settings.channel().startTimeout());
  }

  private LegacyChannel start(
      UpstreamLink link, Consumer<Channel> whenGone, Duration endpointTimeout) {
    clients.requireOpen();
    String session = Objects.requireNonNull(link.session());
    // The session is our name for the connection, which the server does not know.
    McpRequests requests = McpRequests.of(clients, settings, link.toServer(null, ""));
    LegacyChannel channel = new LegacyChannel(requests, session, endpointTimeout, whenGone);
    channel.connect();
    return channel;
  }

  /**
   * Opens a session if the server speaks this transport. Empty if it sends no {@code endpoint}
   * event in time.
   */
  public Optional<Handshake> initializeIfLegacy(Message.Request initialize, Caller opener) {
    AtomicReference<LegacyChannel> tried = new AtomicReference<>();
    try {
      return Optional.of(
          initialize(
              initialize,
              opener,
              (link, whenGone) -> {
                LegacyChannel channel = start(link, whenGone, DETECTION_TIMEOUT);
                tried.set(channel);
                return channel;
              }));
    } catch (UpstreamException failure) {
      LegacyChannel channel = tried.get();
      if (channel == null || channel.hasEndpoint()) {
        throw failure;
      }
      return Optional.empty();
    }
  }

  @Override
  public Profile profile() {
    return profile;
  }

  @Override
  public void close() {
    super.close();
    clients.close();
  }

  @Override
  protected String transport() {
    return "sse";
  }
}
