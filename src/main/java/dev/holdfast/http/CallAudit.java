package dev.holdfast.http;

import dev.holdfast.audit.AuditLog;
import dev.holdfast.audit.AuditLog.Outcome;
import dev.holdfast.call.Caller;
import dev.holdfast.call.Conversation;
import dev.holdfast.call.Exchange;
import dev.holdfast.call.SessionId;
import dev.holdfast.log.Position;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.relay.Reply;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.relay.tail.ForwardingTranslation;
import dev.holdfast.relay.tail.Tail;
import dev.holdfast.relay.tail.Translation;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.Upstreams;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Tells the audit log which tools are called, and whether their callers were answered. */
@Singleton
record CallAudit(AuditLog audit, Upstreams upstreams) {

  /** Takes messages, as the next step does. */
  Reply take(Exchange exchange, Supplier<Reply> next) {
    if (!audit.hasCalls()
        || exchange.conversation() instanceof Conversation.Sse
        || !(exchange.body() instanceof Body.Single(Message.Request request))
        || !request.method().equals(Methods.TOOLS_CALL)) {
      return next.get();
    }
    Upstream.ToolName tool = tool(exchange, request);
    String server = tool == null || tool.server() == null ? exchange.upstream() : tool.server();
    SessionId session =
        exchange.conversation() instanceof Conversation.InSession named ? named.id() : null;
    AuditLog.Call call = call(exchange.caller(), server, session, request.id().json());
    audit.callArrived(call, tool == null ? null : tool.tool());
    Reply reply;
    try {
      reply = next.get();
    } catch (RuntimeException refused) {
      audit.callAnswered(call, Outcome.REFUSED);
      throw refused;
    }
    return switch (reply) {
      case Reply.Json(byte[] document, int _) -> {
        audit.callAnswered(call, outcome(document, Outcome.TOOL_ERROR));
        yield reply;
      }
      case Reply.Stream(Tail tail, boolean isComplete) ->
          new Reply.Stream(answering(tail, call), isComplete);
      default -> reply;
    };
  }

  /** The tool of a call as its server calls it; null if the call names none. */
  private Upstream.@Nullable ToolName tool(Exchange exchange, Message.Request request) {
    String name = request.toolName();
    return name == null
        ? null
        : upstreams
            .find(exchange.upstream())
            .map(upstream -> upstream.tool(request, exchange.caller()))
            .orElse(new Upstream.ToolName(null, name));
  }

  /** Follows a call that goes on with another connection. */
  Tail resumed(Tail tail, Caller caller, String upstream, @Nullable SessionId session) {
    if (!audit.hasCalls() || !StreamNames.answersRequests(tail.stream())) {
      return tail;
    }
    AuditLog.Call call = call(caller, upstream, session, "");
    audit.callResumed(call.on(tail.stream().name()));
    return answering(tail, call);
  }

  private static AuditLog.Call call(
      Caller caller, String upstream, @Nullable SessionId session, String request) {
    return new AuditLog.Call(caller.principal(), caller.network(), upstream, session, request, "");
  }

  private Tail answering(Tail tail, AuditLog.Call call) {
    AuditLog.Call named = call.on(tail.stream().name());
    return tail.wrapped(inner -> new Answer(inner, named));
  }

  /**
   * Tells how a response ends.
   *
   * @param failed the outcome of a result that is an error
   */
  private static Outcome outcome(byte[] response, Outcome failed) {
    if (JsonEdit.raw(response, "error") != null) {
      return Outcome.ERROR;
    }
    if ("\"input_required\"".equals(JsonEdit.raw(response, "result", "resultType"))) {
      return Outcome.QUESTION;
    }
    return "true".equals(JsonEdit.raw(response, "result", "isError")) ? failed : Outcome.RESULT;
  }

  /** Messages of a call on their way to the caller. */
  private final class Answer extends ForwardingTranslation {

    private final AuditLog.Call call;
    private @Nullable Outcome outcome;

    Answer(Translation inner, AuditLog.Call call) {
      super(inner);
      this.call = call;
    }

    @Override
    public byte[] translate(Position position, byte[] message) {
      byte[] translated = super.translate(position, message);
      look(translated);
      return translated;
    }

    private void look(byte[] message) {
      if (message.length > 0
          && Envelopes.read(message) instanceof Body.Single(Message.Response response)) {
        outcome = outcome(response.bytes(), Outcome.TOOL_ERROR);
      }
    }

    @Override
    public byte[] pause(Position cursor) {
      byte[] last = super.pause(cursor);
      outcome = outcome(last, Outcome.HELD);
      return last;
    }

    @Override
    public List<byte[]> atEnd() {
      List<byte[]> last = super.atEnd();
      last.forEach(this::look);
      return last;
    }

    @Override
    public void closed(boolean left) {
      super.closed(left);
      if (outcome == null || left) {
        audit.callLeft(call, left ? "the client is gone" : "the connection has ended");
      } else {
        audit.callAnswered(call, outcome);
      }
    }
  }
}
