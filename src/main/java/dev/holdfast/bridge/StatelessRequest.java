package dev.holdfast.bridge;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.MetaKeys;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.ProtocolVersion;
import dev.holdfast.protocol.SubscribedChanges;
import dev.holdfast.retry.Backoff;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.Placement;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamSession;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * A request without a session (MCP 2026-07-28): one POST. A server over HTTP gets it as it is. To
 * cancel it, {@link #close} it.
 */
final class StatelessRequest extends ClientRequest {

  private static final Logger LOG = Logger.getLogger(StatelessRequest.class);

  /** The client does not know the headers that a server wants. */
  private static final UpstreamLink LINK = new UpstreamLink(null, "").stateless(false);

  /** Delays before a lost subscription is opened again. */
  private static final Backoff BACKOFF =
      new Backoff(Duration.ofMillis(250), Duration.ofSeconds(10));

  private final Message.Request request;
  private final Upstream upstream;

  /** Owned by the running thread. */
  private boolean acknowledged;

  StatelessRequest(Body.Single body, Message.Request request, Upstream upstream, ClientOutput out) {
    super(body, out);
    this.request = request;
    this.upstream = upstream;
  }

  /** Returns true if a request needs no session. */
  static boolean isStateless(Message.Request request) {
    return !request.isInitialize()
        && (request.version() != null || request.method().equals(Methods.SERVER_DISCOVER));
  }

  @Override
  void exchange() {
    if (!(upstream.placement(LINK) instanceof Placement.Anywhere)) {
      refuse();
      return;
    }
    UpstreamSession server = upstream.attach(LINK);
    try {
      switch (request.method()) {
        case Methods.SERVER_DISCOVER -> pass(send(server, SafeRetry.SHORT));
        case Methods.SUBSCRIPTIONS_LISTEN -> listen(server);
        default -> pass(send(server, SafeRetry.LONG));
      }
    } catch (UpstreamException.SessionGone opensSessions) {
      refuse();
    }
  }

  @Override
  boolean isEndless() {
    return request.method().equals(Methods.SUBSCRIPTIONS_LISTEN);
  }

  /** Opens the subscription again when its stream is lost. */
  private void listen(UpstreamSession server) {
    try {
      for (Backoff backoff = BACKOFF; !isDone(); backoff = backoff.next()) {
        MessageSource stream = send(server, SafeRetry.LONG);
        try {
          pass(stream);
        } catch (UpstreamException.Broken | UpstreamException.TimedOut lost) {
          LOG.debugf("subscription lost: retry=%s cause=%s", backoff.delay(), lost.getMessage());
        }
        if (!isDone()) {
          Thread.sleep(backoff.delay());
        }
      }
    } catch (InterruptedException closed) {
      Thread.currentThread().interrupt();
    }
  }

  /** {@inheritDoc} Of a subscription that is open again, the client gets all possible changes. */
  @Override
  List<byte[]> translate(byte[] json) {
    SubscribedChanges changes = isEndless() ? acknowledgement(json) : null;
    if (changes == null || !acknowledged) {
      acknowledged |= changes != null;
      return List.of(json);
    }
    JsonEdit tag =
        new JsonEdit().set(request.id().json(), "params", "_meta", MetaKeys.SUBSCRIPTION_ID);
    return changes.all().stream().map(tag::apply).toList();
  }

  private static @Nullable SubscribedChanges acknowledgement(byte[] json) {
    try {
      return Envelopes.read(json) instanceof Body.Single(Message.Notification notification)
          ? SubscribedChanges.of(notification)
          : null;
    } catch (EnvelopeException invalid) {
      return null;
    }
  }

  /** Names the revisions with sessions, so that a client of both kinds initializes. */
  private void refuse() {
    String supported =
        ProtocolVersion.names(true).reversed().stream()
            .map(JsonEdit::quote)
            .collect(Collectors.joining(",", "[", "]"));
    String data =
        "{\"supported\":%s,\"requested\":%s}"
            .formatted(supported, JsonEdit.quote(String.valueOf(request.version())));
    fail(id ->
        JsonRpcErrors.error(
            id, JsonRpcErrorCode.UNSUPPORTED_VERSION, "The server opens sessions", data));
  }
}
