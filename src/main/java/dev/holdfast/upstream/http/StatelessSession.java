package dev.holdfast.upstream.http;

import dev.holdfast.call.Principal;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.McpHeaders;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamSession;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Requests to a server that keeps no sessions (MCP 2026-07-28). They go as they are, with the
 * headers that must repeat some of their members.
 *
 * @param principal whose requests these are
 * @param arguments headers for arguments of tools; null if the client sends them itself
 */
record StatelessSession(
    McpRequests requests, Principal principal, @Nullable ArgumentHeaders arguments)
    implements UpstreamSession {

  /** Time limit of {@code server/discover}: other servers may never answer it. */
  private static final Duration DISCOVER_TIMEOUT = Duration.ofSeconds(5);

  private static final String HEADER_MISMATCH = "-32020";

  @Override
  public Answer request(Body body) {
    if (!(body instanceof Body.Single(Message.Request request))) {
      throw new IllegalArgumentException("Revision 2026-07-28 has no batches");
    }
    if (arguments == null || !request.method().equals(Methods.TOOLS_CALL)) {
      return post(request, Map.of());
    }
    Map<String, String> sent = argumentHeaders(request, arguments);
    Answer answer = post(request, sent);
    if (answer instanceof Answer.Json json && isMismatch(json.json())) {
      // The server has not acted. The tool may have changed since it was listed.
      arguments.forget(principal);
      Map<String, String> newer = argumentHeaders(request, arguments);
      if (!newer.equals(sent)) {
        json.release().run();
        return post(request, newer);
      }
    }
    return answer;
  }

  private Map<String, String> argumentHeaders(Message.Request call, ArgumentHeaders of) {
    return of.of(principal, call, this::response);
  }

  /** Returns the response to a request of the gateway itself; null if there is none. */
  private byte @Nullable [] response(byte[] json) {
    if (!(Envelopes.read(json) instanceof Body.Single(Message.Request request))) {
      return null;
    }
    try (MessageSource source = post(request, Map.of()).source()) {
      Message.Response response = source.response();
      return response == null ? null : response.bytes();
    } catch (UpstreamException failure) {
      return null; // The call shows it.
    }
  }

  private static boolean isMismatch(byte[] response) {
    return HEADER_MISMATCH.equals(JsonEdit.raw(response, "error", "code"));
  }

  private Answer post(Message.Request request, Map<String, String> more) {
    Map<String, String> headers = new HashMap<>(more);
    headers.put(McpHeaders.METHOD, HeaderValues.encode(request.method()));
    if (request.version() != null) {
      headers.put(McpHeaders.PROTOCOL_VERSION, HeaderValues.encode(request.version()));
    }
    String name = name(request);
    if (name != null) {
      headers.put(McpHeaders.NAME, HeaderValues.encode(name));
    }
    boolean listens = request.method().equals(Methods.SUBSCRIPTIONS_LISTEN);
    Duration configured = requests.settings().channel().firstByteTimeout();
    Duration firstByte =
        request.method().equals(Methods.SERVER_DISCOVER)
                && configured.compareTo(DISCOVER_TIMEOUT) > 0
            ? DISCOVER_TIMEOUT
            : configured;
    Supplier<HttpExchange> exchanges =
        listens
            ? requests::newStreamExchange
            : () -> new HttpExchange(requests.clients().nextForCall());
    HttpAnswer answer =
        requests.post(request.bytes(), headers, exchanges, () -> Deadline.ofFirstByte(firstByte));
    if (answer.isEventStream()) {
      StreamKind call =
          requests.settings().reconnection().isPatient()
              ? StreamKind.CALL
              : StreamKind.STATELESS_CALL;
      StreamKind kind = listens ? StreamKind.SUBSCRIPTION : call;
      return new Answer.Stream(
          SseMessageSource.answering(kind, requests, answer.exchange(), Deadline.NEVER));
    }
    if (answer.isJson()) {
      int maxBytes = requests.settings().channel().maxMessageBytes();
      return answer.readJson(maxBytes, Deadline.ofFirstByte(firstByte));
    }
    UpstreamException failure = answer.toException();
    if (failure instanceof UpstreamException.Refused refused
        && refused.error() != null
        && !refused.isTemporary()) {
      // Revision 2026-07-28 has statuses for errors. Some have no id, or another one.
      JsonEdit edit = new JsonEdit().set(request.id().json(), "id");
      return new Answer.Json(edit.apply(refused.error()));
    }
    throw failure;
  }

  private static @Nullable String name(Message.Request request) {
    String member = Methods.nameParameter(request.method());
    return member == null ? null : JsonEdit.text(JsonEdit.raw(request.bytes(), "params", member));
  }

  /** Revision 2026-07-28 has no notifications of clients over HTTP, and no responses. */
  @Override
  public void send(Body messages) {}

  @Override
  public Optional<MessageSource> listen(@Nullable String after) {
    return Optional.empty();
  }

  @Override
  public void end() {}
}
