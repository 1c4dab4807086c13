package dev.holdfast.era.north;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.call.Caller;
import dev.holdfast.call.Exchange;
import dev.holdfast.call.SessionId;
import dev.holdfast.log.Position;
import dev.holdfast.log.StreamIndex;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.McpHeaders;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.Relay;
import dev.holdfast.relay.Reply;
import dev.holdfast.relay.stream.EventId;
import dev.holdfast.relay.stream.RelayException;
import dev.holdfast.relay.tail.Tail;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Takes the requests of clients without a session (MCP 2026-07-28). Thread-safe. Methods throw as
 * those of {@link Relay} do.
 */
public final class StatelessRelay {

  private static final Logger LOG = Logger.getLogger(StatelessRelay.class);

  private static final String INVALID_STATE = "requestState is invalid or has expired";
  private static final String CALL_LOST = "The call has ended; its outcome is unknown";

  private final StatelessContext context;
  private final SessionPool pool;
  private final AtomicBoolean earlierHeader = new AtomicBoolean();
  private final Subscriptions subscriptions;

  /**
   * Creates the service.
   *
   * @param store keys of the states that clients bring back
   */
  public StatelessRelay(
      Relay relay,
      RetryStore store,
      StreamIndex streams,
      EraListener listener,
      EraConfig config,
      InstantSource clock) {
    this.context =
        new StatelessContext(relay, new RetrySeal(store, clock), streams, listener, config, clock);
    this.subscriptions = new Subscriptions(context);
    this.pool = new SessionPool(relay, config.shareAnonymousSessions(), clock);
  }

  /**
   * Returns true if a body is of a revision without sessions.
   *
   * @param version the header that names the revision; null if there is none
   */
  public static boolean accepts(Body body, @Nullable String version) {
    return StatelessRules.isStateless(body, version);
  }

  /** Returns true if a header names a revision without sessions. */
  public static boolean accepts(@Nullable String version) {
    return StatelessRules.isStateless(version);
  }

  /**
   * Takes a message.
   *
   * @param header returns the value of a header; null for none
   * @param onSent runs when the body of a request is no longer held; not after a failure
   */
  public Reply take(Exchange exchange, UnaryOperator<@Nullable String> header, Runnable onSent) {
    return switch (exchange.body()) {
      case Body.Single(Message.Request request) -> request(exchange, request, header, onSent);
      case Body.Single(Message.Notification _) -> new Reply.Acknowledgement();
      case Body.Single(Message.Response _), Body.Batch _ ->
          new Reply.Json(
              JsonRpcErrors.error(
                  null,
                  JsonRpcErrorCode.INVALID_REQUEST,
                  "Invalid Request: a body is one request or one notification"),
              400);
    };
  }

  private Reply request(
      Exchange exchange,
      Message.Request message,
      UnaryOperator<@Nullable String> header,
      Runnable onSent) {
    try {
      StatelessRequest request = StatelessRequest.read(message);
      if (StatelessRules.check(request, header)) {
        context.listener().request(EraListener.Request.EARLIER_HEADER);
        if (earlierHeader.compareAndSet(false, true)) {
          LOG.infof(
              "requests name an earlier revision in their header, and are served by their body"
                  + " header=%s body=%s",
              header.apply(McpHeaders.PROTOCOL_VERSION), message.version());
        }
      }
      if (context.config().newClients() == EraConfig.NewClients.REFUSE) {
        throw StatelessRules.unsupported(request.message().version(), false);
      }
      return switch (request.method()) {
        case Methods.SERVER_DISCOVER ->
            new Reply.Json(pool.discover(exchange, request).toResponse(message.id().json()), 200);
        case Methods.SUBSCRIPTIONS_LISTEN -> listen(exchange, request, onSent);
        default -> call(exchange, request, onSent);
      };
    } catch (StatelessException refused) {
      context.listener().request(EraListener.Request.REFUSED);
      return new Reply.Json(refused.toError(message.id()), refused.status());
    }
  }

  private Reply listen(Exchange exchange, StatelessRequest request, Runnable onSent) {
    PooledSession session = pool.find(exchange, request);
    if (!session.isTranslated()) {
      return call(exchange, request, onSent);
    }
    try {
      Reply reply = subscriptions.open(exchange, request, session);
      onSent.run();
      return reply;
    } catch (RelayException.SessionNotFound ended) {
      pool.forget(exchange, request, session);
      Reply reply = subscriptions.open(exchange, request, pool.find(exchange, request));
      onSent.run();
      return reply;
    }
  }

  private Reply call(Exchange exchange, StatelessRequest request, Runnable onSent) {
    CallId id = CallId.of(request);
    ClientRequest client = ClientRequest.of(request, id);
    String serverState = "";
    if (request.requestState() != null) {
      RetryState state =
          context
              .seal()
              .open(
                  request.requestState(),
                  RetrySeal.Binding.of(exchange.caller(), exchange.upstream(), client))
              .orElseThrow(this::invalidState);
      if (state.call().isPresent()) {
        return goOn(exchange, request, client, state.call().get(), state.pauses());
      }
      serverState = state.serverState();
    }
    PooledSession session = pool.find(exchange, request);
    try {
      return run(exchange, request, id, session, serverState, onSent);
    } catch (RelayException.SessionNotFound ended) {
      pool.forget(exchange, request, session);
    }
    // The server has not got the request.
    try {
      return run(exchange, request, id, pool.find(exchange, request), serverState, onSent);
    } catch (RelayException.SessionNotFound ended) {
      throw new StatelessException(
          200, JsonRpcErrorCode.INTERNAL_ERROR, "The server has no session", null);
    }
  }

  private StatelessException invalidState() {
    context.listener().state(EraListener.State.REFUSED);
    return StatelessException.invalidParams(200, INVALID_STATE);
  }

  private Reply run(
      Exchange exchange,
      StatelessRequest request,
      CallId id,
      PooledSession session,
      String serverState,
      Runnable onSent) {
    RequestId inSession = id.inSession(request.message());
    StatelessCall call =
        new StatelessCall(
            context,
            exchange.upstream(),
            exchange.caller(),
            session.id(),
            session.isForOneCall(),
            inSession.json());
    if (session.isTranslated() && !session.discovery().serves(request.method())) {
      throw StatelessException.unknownMethod(request.method());
    }
    context
        .listener()
        .request(
            session.isTranslated() ? EraListener.Request.TRANSLATED : EraListener.Request.PASSED);
    setLogLevel(call, session, id.logLevel());
    Body body = Envelopes.read(inSession(request, id, session, serverState));
    Reply reply = context.relay().take(exchange.with(session.id(), body), onSent);
    ResultTranslation translation =
        new ResultTranslation(
            call, ClientRequest.of(request, id), session.isTranslated(), session.discovery());
    return switch (reply) {
      case Reply.Json(byte[] document, _) -> {
        byte[] response = translation.translate(Position.START, document);
        translation.closed(false);
        yield new Reply.Json(response, status(response));
      }
      case Reply.Stream(Tail tail) ->
          new Reply.Stream(translated(tail, translation.of(tail.stream().name()), call));
      default -> reply;
    };
  }

  /** Events have ids only if that is configured. They name the session, which no header does. */
  private Tail translated(Tail tail, ResultTranslation translation, StatelessCall call) {
    boolean ids = context.config().eventIds();
    return tail.translated(
        translation, ids ? call.session().value() + "_" + tail.stream().name() : null);
  }

  /**
   * Goes on with a call after an event, as {@link Relay#resume} does.
   *
   * @param last names the session
   */
  public Optional<Tail> resume(String upstream, Caller caller, EventId last) {
    SessionId session =
        Optional.ofNullable(last.session()).orElseThrow(RelayException.SessionNotFound::new);
    StatelessCall call = new StatelessCall(context, upstream, caller, session, false, "");
    return context
        .relay()
        .resume(upstream, session, caller, new EventId(last.stream(), last.position()))
        .map(tail ->
            translated(
                tail,
                new ResultTranslation(call, null, true, Discovery.UNKNOWN).of(last.stream()),
                call));
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
                  new JsonEdit()
                      .set("\"2.0\"", "jsonrpc")
                      .set("\"level-" + level + "\"", "id")
                      .set("\"logging/setLevel\"", "method")
                      .set(JsonEdit.quote(level), "params", "level")
                      .apply("{}".getBytes(UTF_8))));
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
        new StatelessCall(
            context,
            exchange.upstream(),
            exchange.caller(),
            round.session(),
            round.endsSession(),
            round.id());
    try {
      List<String> unanswered = answer(call, request, round);
      RetryState.Call rest = round.waitingFor(unanswered);
      Optional<Tail> tail =
          context
              .relay()
              .resume(
                  exchange.upstream(),
                  round.session(),
                  exchange.caller(),
                  new EventId(round.stream(), rest.from()));
      ResultTranslation translation =
          new ResultTranslation(call, client, true, Discovery.UNKNOWN).after(rest, pauses);
      return new Reply.Stream(
          translated(tail.orElseThrow(RelayException.StreamNotFound::new), translation, call));
    } catch (RelayException.SessionNotFound
        | RelayException.StreamNotFound
        | RelayException.EventsPurged ended) {
      throw new StatelessException(200, JsonRpcErrorCode.INTERNAL_ERROR, CALL_LOST, null);
    }
  }

  /** Gives the server the answers of the client. Returns the raw ids of requests without one. */
  private List<String> answer(StatelessCall call, StatelessRequest request, RetryState.Call round) {
    List<String> unanswered = new ArrayList<>();
    RetryStore store = context.seal().store();
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
      String answer = JsonEdit.raw(request.inputResponses(), ServerRequests.key(asked));
      if (answer == null) {
        unanswered.add(asked);
      } else {
        Reply _ = call.send(JsonRpcErrors.result(new RequestId(asked), answer));
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
