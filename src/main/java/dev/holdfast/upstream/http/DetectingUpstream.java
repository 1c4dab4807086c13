package dev.holdfast.upstream.http;

import dev.holdfast.call.Caller;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.Placement;
import dev.holdfast.upstream.Profile;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamSession;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A server behind HTTP whose transport is not configured. The upstream posts {@code initialize}. If
 * the server refuses that, the upstream requests a stream from the same URL. A stream that begins
 * with an {@code endpoint} event shows HTTP+SSE (MCP 2025-11-25, Transports, Backwards
 * Compatibility).
 *
 * <p>Each {@code initialize} detects the transport again, so a server can be replaced by one with
 * the other transport. The id of a session tells every replica which transport it has.
 */
public final class DetectingUpstream implements Upstream {

  /** Statuses about the caller or the load, which say nothing about the transport. */
  private static final Set<Integer> UNRELATED_STATUSES = Set.of(401, 402, 403, 407, 408, 429);

  private final HttpUpstream streamable;
  private final LegacyUpstream legacy;

  /** Connects on demand. The bounds are those of the two kinds of upstream. */
  public DetectingUpstream(HttpClients clients, HttpUpstreamSettings settings) {
    streamable = new HttpUpstream(clients, settings);
    legacy = new LegacyUpstream(clients, settings);
  }

  @Override
  public Handshake initialize(Message.Request initialize, Caller opener) {
    try {
      return streamable.initialize(initialize, opener);
    } catch (UpstreamException.Refused refused) {
      if (!mayBeLegacy(refused, initialize)) {
        throw refused;
      }
      return legacy.initializeIfLegacy(initialize, opener).orElseThrow(() -> refused);
    }
  }

  /** A server that answers the request with a JSON-RPC error has understood it. */
  private static boolean mayBeLegacy(
      UpstreamException.Refused refused, Message.Request initialize) {
    int status = refused.status();
    return status >= 400
        && status <= 499
        && !UNRELATED_STATUSES.contains(status)
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

  @Override
  public Profile profile() {
    return legacy.profile();
  }

  private Upstream of(UpstreamLink link) {
    return LegacyUpstream.isLegacySession(link) ? legacy : streamable;
  }

  @Override
  public UpstreamSession attach(UpstreamLink link) {
    return of(link).attach(link);
  }

  @Override
  public Placement placement(UpstreamLink link) {
    return of(link).placement(link);
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
