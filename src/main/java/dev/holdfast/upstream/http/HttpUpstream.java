package dev.holdfast.upstream.http;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.McpHeaders;
import dev.holdfast.protocol.Message;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import dev.holdfast.upstream.http.client.Deadline;
import dev.holdfast.upstream.http.client.HeaderValues;
import dev.holdfast.upstream.http.client.HttpAnswer;
import dev.holdfast.upstream.http.client.HttpClients;
import dev.holdfast.upstream.http.client.HttpUpstreamSettings;
import dev.holdfast.upstream.http.client.McpRequests;
import dev.holdfast.upstream.http.stream.SseMessageSource;
import dev.holdfast.upstream.http.stream.StreamKind;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A server that speaks Streamable HTTP (MCP 2025-03-26 to 2025-11-25).
 *
 * <p>The upstream never sends a request twice: when a connection breaks before the answer, the
 * server may have acted on the request.
 */
public final class HttpUpstream implements Upstream {

  private final HttpClients clients;
  private final HttpUpstreamSettings settings;

  /**
   * Connects on demand.
   *
   * @param vertx runs the connections; stays open when this upstream closes
   */
  public HttpUpstream(Vertx vertx, HttpUpstreamSettings settings) {
    this(new HttpClients(vertx, settings), settings);
  }

  HttpUpstream(HttpClients clients, HttpUpstreamSettings settings) {
    this.clients = clients;
    this.settings = settings;
  }

  @Override
  public Handshake initialize(Message.Request initialize) {
    HttpAnswer answer = requests(null, null).post(initialize.bytes());
    String session = answer.header(McpHeaders.SESSION_ID);
    if (session != null && !HeaderValues.isVisibleAscii(session)) {
      answer.exchange().close();
      throw new UpstreamException.Broken("a session id that is not visible ASCII", null);
    }
    if (answer.isEventStream()) {
      return readStream(initialize, answer, session);
    }
    if (!answer.isJson()) {
      throw answer.toException();
    }
    byte[] json =
        answer.readJson(settings.maxMessageBytes(), Deadline.after(settings.firstByteTimeout()));
    Message.Response response = responseTo(initialize, json);
    if (response == null) {
      throw new UpstreamException.Broken("not a response to initialize", null);
    }
    return Handshake.of(response, session, List.of(), HeaderValues::isVisibleAscii);
  }

  private Handshake readStream(
      Message.Request initialize, HttpAnswer answer, @Nullable String session) {
    List<UpstreamMessage> before = new ArrayList<>();
    long bytes = 0;
    McpRequests requests = requests(session, null);
    Deadline latest = Deadline.after(settings.firstByteTimeout());
    try (var source =
        SseMessageSource.answering(StreamKind.CALL, requests, answer.exchange(), latest)) {
      while (true) {
        List<UpstreamMessage> messages = source.take();
        if (messages.isEmpty()) {
          throw new UpstreamException.Broken("no response to initialize", null);
        }
        for (UpstreamMessage message : messages) {
          Message.Response response = responseTo(initialize, message.payload());
          if (response != null) {
            return Handshake.of(response, session, before, HeaderValues::isVisibleAscii);
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

  private static Message.@Nullable Response responseTo(Message.Request request, byte[] json) {
    try {
      return Envelopes.read(json) instanceof Body.Single(Message.Response response)
              && (request.id().equals(response.id()) || response.id() == null)
          ? response
          : null;
    } catch (EnvelopeException e) {
      throw new UpstreamException.Broken("not JSON-RPC", e);
    }
  }

  @Override
  public UpstreamSession attach(UpstreamLink link) {
    return new HttpUpstreamSession(requests(link.session(), link.protocolVersion()));
  }

  private McpRequests requests(@Nullable String session, @Nullable String protocolVersion) {
    return new McpRequests(clients, settings, session, protocolVersion);
  }

  @Override
  public void close() {
    clients.close();
  }
}
