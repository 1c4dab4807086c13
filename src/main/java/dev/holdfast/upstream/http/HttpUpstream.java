package dev.holdfast.upstream.http;

import dev.holdfast.call.Caller;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.McpHeaders;
import dev.holdfast.protocol.Message;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.Placement;
import dev.holdfast.upstream.Profile;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamSession;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A server that speaks Streamable HTTP (MCP 2025-03-26 to 2026-07-28).
 *
 * <p>The upstream never sends a request twice: when a connection breaks before the answer, the
 * server may have acted on the request.
 */
public final class HttpUpstream implements Upstream {

  /** The gateway stores the id, and sends it with each request. */
  private static final int MAX_SESSION_ID = 2048;

  private static final Placement PLACEMENT = new Placement.Anywhere("streamable-http");

  private final HttpClients clients;
  private final HttpUpstreamSettings settings;
  private final Profile profile;
  private final ArgumentHeaders argumentHeaders = new ArgumentHeaders();

  /** Connects on demand, with connections that it closes. */
  public HttpUpstream(HttpClients clients, HttpUpstreamSettings settings) {
    this.clients = clients;
    this.settings = settings;
    this.profile = settings.profile(false);
  }

  @Override
  public Handshake initialize(Message.Request initialize, Caller opener) {
    UpstreamLink opening = new UpstreamLink(null, "").with(opener);
    McpRequests requests = McpRequests.of(clients, settings, opening);
    HttpAnswer answer = requests.post(initialize.bytes());
    String session = answer.header(McpHeaders.SESSION_ID);
    if (session != null
        && (session.length() > MAX_SESSION_ID || !HeaderValues.isVisibleAscii(session))) {
      answer.exchange().close();
      throw new UpstreamException.Broken(
          "a session id that is too long or not visible ASCII", null);
    }
    if (!answer.isEventStream() && !answer.isJson()) {
      throw answer.toException();
    }
    int maxBytes = settings.channel().maxMessageBytes();
    Deadline latest = Deadline.after(settings.channel().startTimeout());
    try (MessageSource source =
        answer.isJson()
            ? answer.readJson(maxBytes, latest).source()
            : SseMessageSource.answering(
                StreamKind.CALL, requests.in(session), answer.exchange(), latest)) {
      return Handshake.read(
          initialize, source::take, maxBytes, session, HeaderValues::isVisibleAscii);
    }
  }

  @Override
  public UpstreamSession attach(UpstreamLink link) {
    McpRequests requests = McpRequests.of(clients, settings, link);
    if (!link.isStateless()) {
      return new Session(requests);
    }
    return new StatelessSession(
        requests.in(null),
        link.sender().principal(),
        link.hasHeadersOfClient() ? null : argumentHeaders);
  }

  @Override
  public Profile profile() {
    return profile;
  }

  @Override
  public Placement placement(UpstreamLink link) {
    return PLACEMENT;
  }

  @Override
  public void close() {
    clients.close();
  }

  /** A session over Streamable HTTP. Its only state is the headers of its requests. */
  private record Session(McpRequests requests) implements UpstreamSession {

    @Override
    public Answer request(Body body) {
      Duration firstByte = requests.settings().channel().firstByteTimeout();
      HttpAnswer answer = requests.post(body.bytes(), () -> Deadline.ofFirstByte(firstByte));
      if (answer.isEventStream()) {
        StreamKind kind = body instanceof Body.Batch ? StreamKind.BATCH : StreamKind.CALL;
        return new Answer.Stream(
            SseMessageSource.answering(kind, requests, answer.exchange(), Deadline.NEVER));
      }
      if (answer.isJson()) {
        int maxBytes = requests.settings().channel().maxMessageBytes();
        return answer.readJson(maxBytes, Deadline.ofFirstByte(firstByte));
      }
      throw answer.toException();
    }

    @Override
    public void send(Body messages) {
      HttpAnswer answer = requests.post(messages.bytes());
      if (!answer.isSuccess()) {
        throw answer.toException();
      }
      answer.discard();
    }

    @Override
    public Optional<MessageSource> listen(@Nullable String after) {
      return SseMessageSource.standalone(requests, after == null ? "" : after);
    }

    @Override
    public MessageSource resume(String eventId) {
      return SseMessageSource.resuming(requests, eventId);
    }

    @Override
    public void end() {
      if (!requests.hasSession()) {
        return;
      }
      try {
        requests.delete().discard();
      } catch (UpstreamException e) {
        // A server may refuse this (405), and ends idle sessions by itself.
      }
    }
  }
}
