package dev.holdfast.era.north;

import dev.holdfast.call.Conversation;
import dev.holdfast.call.Exchange;
import dev.holdfast.log.Position;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.ForwardedHeaders;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcMessages;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.Reply;
import dev.holdfast.relay.stream.EventId;
import dev.holdfast.relay.stream.RelayException;
import dev.holdfast.relay.stream.StreamNames;
import dev.holdfast.relay.tail.Tail;
import dev.holdfast.seal.SealStore;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Runs the requests of clients without a session in sessions of the gateway. Thread-safe. */
record StatelessCalls(StatelessContext context, SessionPool pool, Tasks tasks) {

  private static final String INVALID_STATE = "requestState is invalid or has expired";
  private static final String CALL_LOST = "The call has ended; its outcome is unknown";

  /**
   * A request.
   *
   * @param exchange without headers that repeat arguments
   * @param headers all headers for a server without sessions
   * @param onSent runs when the body is no longer held
   */
  record Arrival(
      Exchange exchange, StatelessRequest request, ForwardedHeaders headers, Runnable onSent) {

    /** Finds or opens the session of the caller. */
    PooledSession session(SessionPool pool) {
      return pool.find(exchange, request);
    }
  }

  /** Runs a request, or goes on with one. */
  Reply call(Arrival arrival) {
    Exchange exchange = arrival.exchange();
    StatelessRequest request = arrival.request();
    CallId id = CallId.of(request);
    ClientRequest client = ClientRequest.of(request, id);
    String serverState = "";
    if (request.requestState() != null) {
      RetryState state =
          RetryState.open(
                  context.seal(),
                  request.requestState(),
                  exchange.caller(),
                  exchange.upstream(),
                  client)
              .orElseThrow(this::invalidState);
      if (state.call().isPresent()) {
        Reply reply = goOn(exchange, request, client, state.call().get(), state.pauses());
        arrival.onSent().run();
        return reply;
      }
      serverState = state.serverState();
    }
    PooledSession session = arrival.session(pool);
    try {
      return run(arrival, id, session, serverState);
    } catch (RelayException.SessionNotFound ended) {
      pool.forget(exchange, request, session);
    }
    // The server has not got the request.
    try {
      return run(arrival, id, arrival.session(pool), serverState);
    } catch (RelayException.SessionNotFound ended) {
      throw new StatelessException(
          200, JsonRpcErrorCode.INTERNAL_ERROR, "The server has no session", null);
    }
  }

  private StatelessException invalidState() {
    context.listener().state(EraListener.State.REFUSED);
    return StatelessException.invalidParams(200, INVALID_STATE);
  }

  private Reply run(Arrival arrival, CallId id, PooledSession session, String serverState) {
    Exchange exchange =
        session.isTranslated()
            ? arrival.exchange()
            : arrival.exchange().with(arrival.exchange().caller().with(arrival.headers()));
    StatelessCall call =
        StatelessCall.of(
            context,
            exchange,
            session.id(),
            session.isForOneCall(),
            id.inSession(arrival.request().message()).json());
    try {
      return run(call, arrival, exchange, id, session, serverState);
    } catch (RuntimeException refused) {
      call.endLater();
      throw refused;
    }
  }

  private Reply run(
      StatelessCall call,
      Arrival arrival,
      Exchange exchange,
      CallId id,
      PooledSession session,
      String serverState) {
    StatelessRequest request = arrival.request();
    if (session.isTranslated() && !session.server().serves(request.method())) {
      throw tasks.areMade() && request.method().startsWith("tasks/")
          ? Tasks.unknown()
          : StatelessException.unknownMethod(request.method());
    }
    context
        .listener()
        .request(
            session.isTranslated() ? EraListener.Request.TRANSLATED : EraListener.Request.PASSED);
    setLogLevel(call, session, id.logLevel());
    Body body = Envelopes.read(inSession(request, id, session, serverState));
    TaskOffer offer = TaskOffer.to(request, tasks);
    var named = new Conversation.Streamable(session.id());
    Reply reply = context.relay().take(named, exchange.with(body), arrival.onSent());
    return switch (reply) {
      case Reply.Json(byte[] document, _) ->
          json(translation(call, request, id, session, offer), document);
      case Reply.Stream(Tail tail, _) when tail.isRepeating() -> {
        call.endLater();
        StatelessCall first =
            StatelessCall.of(
                context, arrival.exchange(), StreamNames.session(tail.stream()), false, "");
        ResultTranslation translation = translation(first, request, id, session, offer);
        yield new Reply.Stream(tail.translated(translation.of(tail.stream().name()), null));
      }
      case Reply.Stream(Tail tail, boolean isComplete) -> {
        ResultTranslation translation = translation(call, request, id, session, offer);
        // So that an error has a status.
        byte[] document = isComplete ? tail.takeSingle() : null;
        yield document == null
            ? new Reply.Stream(translated(tail, translation.of(tail.stream().name()), call))
            : json(translation, document);
      }
      default -> reply;
    };
  }

  private ResultTranslation translation(
      StatelessCall call,
      StatelessRequest request,
      CallId id,
      PooledSession session,
      @Nullable TaskOffer offer) {
    return new ResultTranslation(
            call, ClientRequest.of(request, id), session.isTranslated(), session.server())
        .offering(offer);
  }

  private static Reply json(ResultTranslation translation, byte[] document) {
    byte[] response = translation.translate(Position.START, document);
    translation.closed(false);
    return new Reply.Json(response, status(response));
  }

  /** Events have ids only if that is configured. They name the session, which no header does. */
  Tail translated(Tail tail, ResultTranslation translation, StatelessCall call) {
    boolean ids = context.config().eventIds();
    return tail.translated(
        translation, ids ? call.session().value() + "_" + tail.stream().name() : null);
  }

  /**
   * The request for the session: with other ids and, for earlier revisions, without what is new.
   */
  private static byte[] inSession(
      StatelessRequest request, CallId id, PooledSession session, String serverState) {
    Message.Request message = request.message();
    JsonEdit edit = new JsonEdit().set(id.inSession(message).json(), "id");
    String token = id.tokenInSession(message);
    if (token != null) {
      edit.set(token, "params", "_meta", "progressToken");
    }
    if (session.isTranslated()) {
      edit.remove("params", "inputResponses");
      edit.remove("params", "task"); // Of 2025-11-25: the client asks for a task.
      for (String key : StatelessRequest.OF_META) {
        edit.remove("params", "_meta", key);
      }
    }
    return serverState.isEmpty()
        ? edit.remove("params", "requestState").apply(message.bytes())
        : edit.set(serverState, "params", "requestState").apply(message.bytes());
  }

  private static void setLogLevel(StatelessCall call, PooledSession session, String level) {
    if (!level.isEmpty() && session.needsLevel(level)) {
      boolean _ =
          SessionAnswer.isResult(
              call.send(
                  JsonRpcMessages.of(Methods.SET_LEVEL)
                      .set("\"level-" + level + "\"", "id")
                      .set(JsonEdit.quote(level), "params", "level")
                      .toBytes()));
    }
  }

  /** Goes on with a call that waits for its client. Each state delivers answers once. */
  private Reply goOn(
      Exchange exchange,
      StatelessRequest request,
      ClientRequest client,
      RetryState.Call round,
      int pauses) {
    StatelessCall call =
        StatelessCall.of(context, exchange, round.session(), round.endsSession(), round.id());
    try {
      List<String> unanswered = answer(call, request, round);
      RetryState.Call rest = round.waitingFor(unanswered);
      ResultTranslation translation =
          new ResultTranslation(call, client, true, ServerDescription.UNKNOWN)
              .offering(TaskOffer.to(request, tasks))
              .after(rest, pauses);
      return context
          .relay()
          .<Reply>reopen(
              exchange.upstream(),
              round.session(),
              exchange.caller(),
              new EventId(round.stream(), rest.from()),
              (_, tail) -> new Reply.Stream(translated(tail, translation, call)))
          .orElseThrow(RelayException.StreamNotFound::new);
    } catch (RelayException.SessionNotFound
        | RelayException.StreamNotFound
        | RelayException.EventsPurged ended) {
      throw new StatelessException(200, JsonRpcErrorCode.INTERNAL_ERROR, CALL_LOST, null);
    }
  }

  /** Gives the server the answers of the client. Returns the raw ids of requests without one. */
  private List<String> answer(StatelessCall call, StatelessRequest request, RetryState.Call round) {
    List<String> unanswered = new ArrayList<>();
    SealStore store = context.seal().store();
    boolean first = round.asked().isEmpty() || store.use(round.once());
    context.listener().state(first ? EraListener.State.ACCEPTED : EraListener.State.REPLAYED);
    if (!first) {
      return unanswered;
    }
    try {
      answer(call, request, round, unanswered);
      return unanswered;
    } catch (RuntimeException notGiven) {
      store.release(round.once());
      throw notGiven;
    }
  }

  private static void answer(
      StatelessCall call,
      StatelessRequest request,
      RetryState.Call round,
      List<String> unanswered) {
    for (String asked : round.asked()) {
      RequestId id = new RequestId(asked);
      String answer = JsonEdit.raw(request.inputResponses(), id.key());
      if (answer == null) {
        unanswered.add(asked);
      } else {
        Reply _ = call.send(JsonRpcMessages.result(id, answer));
      }
    }
  }

  /** The HTTP status of a JSON response (MCP 2026-07-28, Transports). */
  private static int status(byte[] response) {
    String code = JsonEdit.raw(response, "error", "code");
    return switch (code) {
      case null -> 200;
      case "-32601" -> 404;
      case "-32700", "-32600", "-32020", "-32021", "-32022" -> 400;
      default -> 200;
    };
  }
}
