package dev.holdfast.upstream.http.legacy;

import dev.holdfast.protocol.Message;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.channel.Channel;
import dev.holdfast.upstream.channel.ChannelSettings;
import dev.holdfast.upstream.channel.ChannelUpstream;
import dev.holdfast.upstream.http.client.HttpClients;
import dev.holdfast.upstream.http.client.HttpUpstreamSettings;
import dev.holdfast.upstream.http.client.McpRequests;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/**
 * A server behind HTTP+SSE, the transport of 2024-11-05. A session is one connection on which the
 * server says all that it has to say, and where to post what it is told; so it lives on the replica
 * that has this connection.
 *
 * @see <a
 *     href="https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse">MCP
 *     2024-11-05, Transports, HTTP with SSE</a>
 */
public final class LegacyUpstream extends ChannelUpstream {

  /** No name that a server gives, since those have no spaces (MCP 2025-11-25, Transports). */
  private static final String PREFIX = "sse ";

  private static final Duration ENDS_WITHIN = Duration.ofSeconds(5);

  /** How long a server may take to show that it is one of this kind, where that is only a guess. */
  private static final Duration GUESS = Duration.ofSeconds(10);

  private final HttpClients clients;
  private final HttpUpstreamSettings settings;
  private final String name;

  /**
   * Connects to nothing yet.
   *
   * @param vertx runs the connections; not closed with this
   * @param settings where the server is
   * @param name what its lines in our log are marked with
   * @param maxSessions the most sessions at a time
   * @param respawn whether a session whose connection was lost goes on over another one
   */
  public LegacyUpstream(
      Vertx vertx, HttpUpstreamSettings settings, String name, int maxSessions, boolean respawn) {
    this(new HttpClients(vertx, settings), settings, name, maxSessions, respawn);
  }

  public LegacyUpstream(
      HttpClients clients,
      HttpUpstreamSettings settings,
      String name,
      int maxSessions,
      boolean respawn) {
    super(
        new ChannelSettings(
            name,
            maxSessions,
            settings.firstByteTimeout(),
            settings.idleTimeout(),
            settings.maxMessageBytes(),
            respawn,
            ENDS_WITHIN));
    this.clients = clients;
    this.settings = settings;
    this.name = name;
  }

  /** Whether a session was opened by an upstream of this kind, here or elsewhere. */
  public static boolean isOurs(UpstreamLink link) {
    String session = link.session();
    return session != null && session.startsWith(PREFIX);
  }

  @Override
  protected String newName() {
    return PREFIX + super.newName();
  }

  @Override
  protected Channel start(String session, Consumer<Channel> whenGone) {
    return start(session, whenGone, settings.firstByteTimeout());
  }

  private LegacyChannel start(String session, Consumer<Channel> whenGone, Duration patience) {
    clients.requireOpen();
    McpRequests requests = new McpRequests(clients, settings, null, null);
    return LegacyChannel.start(requests, name, session, patience, whenGone);
  }

  /**
   * Opens a session if the server speaks this transport at all.
   *
   * @return empty if it gives no endpoint to post to
   * @throws UpstreamException if it speaks it, and opens no session
   */
  public Optional<Handshake> initializeIfSpoken(Message.Request initialize) {
    AtomicReference<LegacyChannel> tried = new AtomicReference<>();
    try {
      return Optional.of(
          initialize(
              initialize,
              (session, whenGone) -> {
                LegacyChannel channel = start(session, whenGone, GUESS);
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
  public void close() {
    super.close();
    clients.close();
  }

  /** How many connections are a session, those that are being closed included. */
  int connections() {
    return channels();
  }
}
