package dev.holdfast.era.north;

import dev.holdfast.call.Caller;
import dev.holdfast.call.Exchange;
import dev.holdfast.call.SessionId;
import dev.holdfast.era.north.StatelessCalls.Arrival;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.StreamIndex;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.ForwardedHeaders;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.McpHeaders;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.relay.Relay;
import dev.holdfast.relay.Reply;
import dev.holdfast.relay.stream.CallListener;
import dev.holdfast.relay.stream.EventId;
import dev.holdfast.relay.stream.RelayException;
import dev.holdfast.relay.tail.Tail;
import dev.holdfast.seal.Seal;
import dev.holdfast.seal.SealStore;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Takes the requests of clients without a session (MCP 2026-07-28). Thread-safe. Methods throw as
 * those of {@link Relay} do.
 */
public final class StatelessRelay {

  private static final Logger LOG = Logger.getLogger(StatelessRelay.class);

  private final StatelessContext context;
  private final Function<String, EraConfig.NewClients> newClients;
  private final SessionPool pool;
  private final AtomicBoolean earlierHeader = new AtomicBoolean();
  private final Subscriptions subscriptions;
  private final StatelessCalls calls;
  private final Tasks tasks;

  /**
   * The stores of the service.
   *
   * @param seals keys of the states that clients bring back
   */
  public record Stores(SealStore seals, StreamIndex streams, EventLog log) {}

  /**
   * Creates the service.
   *
   * @param newClients returns the service of an upstream
   */
  public StatelessRelay(
      Relay relay,
      Stores stores,
      EraListener listener,
      EraConfig config,
      Function<String, EraConfig.NewClients> newClients,
      CallSettings settings,
      CallListener calls,
      InstantSource clock) {
    this.newClients = newClients;
    this.context =
        new StatelessContext(
            relay,
            new Seal(stores.seals(), clock),
            stores.streams(),
            listener,
            config,
            settings.attaches(),
            clock);
    this.tasks = new Tasks(context, stores.log(), settings, calls);
    this.subscriptions = new Subscriptions(context, tasks);
    this.pool = new SessionPool(relay, config, clock);
    this.calls = new StatelessCalls(context, pool, tasks);
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
      Exchange sent,
      Message.Request message,
      UnaryOperator<@Nullable String> header,
      Runnable onSent) {
    // No server with sessions, and no session, gets headers that repeat arguments.
    Caller caller = sent.caller();
    ForwardedHeaders headers = caller.headers();
    Exchange exchange = sent.with(caller.with(headers.without(McpHeaders.PARAMETER)));
    try {
      StatelessRequest request = checked(exchange.upstream(), message, header);
      return switch (request.method()) {
        case Methods.SERVER_DISCOVER -> discover(exchange, request);
        case Methods.SUBSCRIPTIONS_LISTEN ->
            listen(new Arrival(exchange, request, headers, onSent));
        case Methods.TASKS_GET, Methods.TASKS_UPDATE, Methods.TASKS_CANCEL -> {
          Reply own = tasks.answer(exchange, request);
          yield own == null ? calls.call(new Arrival(exchange, request, headers, onSent)) : own;
        }
        default -> calls.call(new Arrival(exchange, request, headers, onSent));
      };
    } catch (StatelessException refused) {
      return refusal(message, refused);
    }
  }

  private Reply discover(Exchange exchange, StatelessRequest request) {
    PooledSession session = pool.discover(exchange, request);
    boolean makesTasks = session.isTranslated() && tasks.areMade();
    String id = request.message().id().json();
    return new Reply.Json(session.server().toResponse(id, makesTasks), 200);
  }

  private Reply refusal(Message.Request message, StatelessException refused) {
    context.listener().request(EraListener.Request.REFUSED);
    return new Reply.Json(refused.toError(message.id()), refused.status());
  }

  /**
   * Checks a request that the gateway itself answers.
   *
   * @return the refusal; null if the request keeps the rules
   */
  public @Nullable Reply check(
      String upstream, Message.Request message, UnaryOperator<@Nullable String> header) {
    try {
      StatelessRequest _ = checked(upstream, message, header);
      return null;
    } catch (StatelessException refused) {
      return refusal(message, refused);
    }
  }

  private StatelessRequest checked(
      String upstream, Message.Request message, UnaryOperator<@Nullable String> header) {
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
    if (newClients.apply(upstream) == EraConfig.NewClients.REFUSE) {
      throw StatelessRules.unsupported(request.message().version(), false);
    }
    return request;
  }

  private Reply listen(Arrival arrival) {
    PooledSession session = arrival.session(pool);
    if (!session.isTranslated()) {
      return calls.call(arrival);
    }
    Reply reply;
    try {
      reply = subscriptions.open(arrival.exchange(), arrival.request(), session);
    } catch (RelayException.SessionNotFound ended) {
      pool.forget(arrival.exchange(), arrival.request(), session);
      PooledSession other = arrival.session(pool);
      reply = subscriptions.open(arrival.exchange(), arrival.request(), other);
    }
    arrival.onSent().run();
    return reply;
  }

  /**
   * Goes on with a call after an event, as {@link Relay#resume} does.
   *
   * @param last names the session
   */
  public Optional<Tail> resume(String upstream, Caller caller, EventId last) {
    SessionId session =
        Optional.ofNullable(last.session())
            .orElseThrow(() -> new RelayException.SessionNotFound(null, "not named"));
    StatelessCall call = new StatelessCall(context, upstream, caller, session, false, "");
    return context
        .relay()
        .reopen(
            upstream,
            session,
            caller,
            new EventId(last.stream(), last.position()),
            (found, tail) ->
                calls.translated(
                    tail,
                    new ResultTranslation(
                            call, null, found.version().hasSessions(), ServerDescription.UNKNOWN)
                        .of(last.stream()),
                    call));
  }
}
