package dev.holdfast.upstream.http;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.McpHeaders;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Opener;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A server that speaks Streamable HTTP (MCP 2025-03-26 to 2025-11-25).
 *
 * <p>The upstream never sends a request twice: when a connection breaks before the answer, the
 * server may have acted on the request.
 */
public final class HttpUpstream implements Upstream {

  /** The gateway stores the id, and sends it with each request. */
  private static final int MAX_SESSION_ID = 2048;

  private final HttpClients clients;
  private final HttpUpstreamSettings settings;

  /** Connects on demand, with connections that it closes. */
  public HttpUpstream(HttpClients clients, HttpUpstreamSettings settings) {
    this.clients = clients;
    this.settings = settings;
  }

  @Override
  public Handshake initialize(Message.Request initialize) {
    return initialize(initialize, Opener.UNKNOWN);
  }

  @Override
  public Handshake initialize(Message.Request initialize, Opener opener) {
    UpstreamLink opening = new UpstreamLink(null, "").with(opener.sender());
    McpRequests requests = McpRequests.of(clients, settings, opening);
    HttpAnswer answer = requests.post(initialize.bytes());
    String session = answer.header(McpHeaders.SESSION_ID);
    if (session != null
        && (session.length() > MAX_SESSION_ID || !HeaderValues.isVisibleAscii(session))) {
      answer.exchange().close();
      throw new UpstreamException.Broken(
          "a session id that is too long or not visible ASCII", null);
    }
    if (answer.isEventStream()) {
      return readStream(initialize, answer, requests.in(session));
    }
    if (!answer.isJson()) {
      throw answer.toException();
    }
    Answer.Json json =
        answer.readJson(settings.maxMessageBytes(), Deadline.after(settings.startTimeout()));
    json.release().run();
    Message.Response response = responseTo(initialize, json.message());
    if (response == null) {
      throw new UpstreamException.Broken("not a response to initialize", null);
    }
    return Handshake.of(response, session, List.of(), HeaderValues::isVisibleAscii);
  }

  private Handshake readStream(
      Message.Request initialize, HttpAnswer answer, McpRequests requests) {
    List<UpstreamMessage> before = new ArrayList<>();
    long bytes = 0;
    Deadline latest = Deadline.after(settings.startTimeout());
    try (var source =
        SseMessageSource.answering(StreamKind.CALL, requests, answer.exchange(), latest)) {
      while (true) {
        List<UpstreamMessage> messages = source.take();
        if (messages.isEmpty()) {
          throw new UpstreamException.Broken("no response to initialize", null);
        }
        for (UpstreamMessage message : messages) {
          Message.Response response = responseTo(initialize, message);
          if (response != null) {
            return Handshake.of(response, requests.session(), before, HeaderValues::isVisibleAscii);
          }
          before.add(message);
          bytes += message.payload().length;
          if (bytes > 2L * settings.maxMessageBytes()) {
            throw new UpstreamException.Broken("too much before the response to initialize", null);
          }
        }
      }
    }
  }

  private static Message.@Nullable Response responseTo(
      Message.Request request, UpstreamMessage message) {
    try {
      return message.body() instanceof Body.Single(Message.Response response)
              && (request.id().equals(response.id()) || response.id() == null)
          ? response
          : null;
    } catch (EnvelopeException e) {
      throw new UpstreamException.Broken("not JSON-RPC", e);
    }
  }

  @Override
  public UpstreamSession attach(UpstreamLink link) {
    return new Session(McpRequests.of(clients, settings, link));
  }

  @Override
  public boolean needsClientToken() {
    return settings.credentials().needClientToken();
  }

  @Override
  public Set<String> forwardedHeaders() {
    return settings.forwardHeaders();
  }

  @Override
  public void close() {
    clients.close();
  }

  /** A session over Streamable HTTP. Its only state is the headers of its requests. */
  private record Session(McpRequests requests) implements UpstreamSession {

    @Override
    public Answer request(Body body) {
      Duration firstByte = requests.settings().firstByteTimeout();
      HttpAnswer answer = requests.post(body.bytes(), () -> Deadline.ofFirstByte(firstByte));
      if (answer.isEventStream()) {
        StreamKind kind = body instanceof Body.Batch ? StreamKind.BATCH : StreamKind.CALL;
        return new Answer.Stream(
            SseMessageSource.answering(kind, requests, answer.exchange(), Deadline.NEVER));
      }
      if (answer.isJson()) {
        int maxBytes = requests.settings().maxMessageBytes();
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

  @Override
  public String transport(UpstreamLink link) {
    return "streamable-http";
  }
}
