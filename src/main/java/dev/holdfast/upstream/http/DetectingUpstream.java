package dev.holdfast.upstream.http;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamSession;
import dev.holdfast.upstream.http.client.HttpClients;
import dev.holdfast.upstream.http.client.HttpUpstreamSettings;
import dev.holdfast.upstream.http.legacy.LegacyUpstream;
import io.vertx.core.Vertx;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A server behind HTTP of which nobody has said what it speaks. {@code initialize} is posted to it;
 * if it refuses that, its address is asked for a stream, and if this begins with an {@code
 * endpoint}, it speaks HTTP+SSE (MCP 2025-11-25, Transports, Backwards Compatibility).
 *
 * <p>Found out anew for each session, so that a server can be replaced by one of the other kind. A
 * session itself says by its name of which kind it is, to every replica.
 */
public final class DetectingUpstream implements Upstream {

  /** What tells of the caller and of the load, and nothing of what the server speaks. */
  private static final Set<Integer> OF_THE_CALLER = Set.of(401, 402, 403, 407, 408, 429);

  private final HttpUpstream streamable;
  private final LegacyUpstream legacy;

  /**
   * Connects to nothing yet.
   *
   * @param vertx runs the connections; not closed with this
   * @param settings where the server is
   * @param name what its lines in our log are marked with
   * @param maxSessions the most sessions over HTTP+SSE at a time
   * @param respawn whether a session over HTTP+SSE goes on over another connection
   */
  public DetectingUpstream(
      Vertx vertx, HttpUpstreamSettings settings, String name, int maxSessions, boolean respawn) {
    HttpClients clients = new HttpClients(vertx, settings);
    streamable = new HttpUpstream(clients, settings);
    legacy = new LegacyUpstream(clients, settings, name, maxSessions, respawn);
  }

  @Override
  public Handshake initialize(Message.Request initialize) {
    try {
      return streamable.initialize(initialize);
    } catch (UpstreamException.Refused refused) {
      if (!mayBeLegacy(refused, initialize)) {
        throw refused;
      }
      return legacy.initializeIfSpoken(initialize).orElseThrow(() -> refused);
    }
  }

  /** Who answers the very request with an error in JSON-RPC has understood it. */
  private static boolean mayBeLegacy(
      UpstreamException.Refused refused, Message.Request initialize) {
    int status = refused.status();
    return status >= 400
        && status <= 499
        && !OF_THE_CALLER.contains(status)
        && !answers(refused.error(), initialize);
  }

  private static boolean answers(byte @Nullable [] error, Message.Request request) {
    try {
      return error != null
          && Envelopes.read(error) instanceof Body.Single(Message.Response response)
          && request.id().equals(response.id());
    } catch (EnvelopeException e) {
      return false;
    }
  }

  private Upstream of(UpstreamLink link) {
    return LegacyUpstream.isOurs(link) ? legacy : streamable;
  }

  @Override
  public UpstreamSession attach(UpstreamLink link) {
    return of(link).attach(link);
  }

  @Override
  public boolean keepsSessions(UpstreamLink link) {
    return of(link).keepsSessions(link);
  }

  @Override
  public boolean reopens() {
    return legacy.reopens();
  }

  @Override
  public void reopen(UpstreamLink link, Message.Request initialize, boolean initialized) {
    of(link).reopen(link, initialize, initialized);
  }

  @Override
  public void close() {
    legacy.close();
    streamable.close();
  }
}
