package dev.holdfast.held;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.budget.LogRate;
import dev.holdfast.call.Conversation;
import dev.holdfast.call.Exchange;
import dev.holdfast.call.Principal;
import dev.holdfast.call.SessionId;
import dev.holdfast.clients.KnownClients;
import dev.holdfast.era.north.StatelessRelay;
import dev.holdfast.log.Position;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.MetaKeys;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.Relay;
import dev.holdfast.relay.Reply;
import dev.holdfast.relay.stream.CallListener;
import dev.holdfast.relay.stream.EventId;
import dev.holdfast.relay.stream.RelayException;
import dev.holdfast.relay.tail.ForwardingTranslation;
import dev.holdfast.relay.tail.Tail;
import dev.holdfast.relay.tail.Translation;
import dev.holdfast.seal.Seal;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Answers calls that run for long with a handle, and gives their results to those who ask with it.
 * Thread-safe.
 */
public final class HeldCalls {

  private static final Logger LOG = Logger.getLogger(HeldCalls.class);
  private static final LogRate TAKEN = new LogRate(Duration.ofMinutes(1));

  private static final String DESCRIPTION =
      """
      {"name":"{wait}","title":"Wait for a result",\
      "description":"Returns the result of a call that was still running. If the call still runs \
      after a while, the answer says so; then call this tool again with the same handle.",\
      "inputSchema":{"type":"object","properties":{"handle":{"type":"string",\
      "description":"The handle that the call has returned."}},"required":["handle"]},\
      "annotations":{"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}}\
      """;

  private static final String HELD =
      "{tool} is still running. Do not call it again. Call the tool {wait} with this handle"
          + " to get its result: {handle}";
  private static final String UNKNOWN =
      "There is no result for this handle: it is not complete, has expired, or is of another client."
          + " The outcome of the call is unknown.";
  private static final String NOT_KEPT =
      "The result of this call is no longer kept, or there is none. The outcome of the call is"
          + " unknown.";
  private static final String ASKED =
      " The call has asked a question, which only the client that called can answer.";

  private final Relay relay;
  private final StatelessRelay stateless;
  private final Seal seal;
  private final HeldConfig config;
  private final Function<String, Optional<Duration>> holdAfter;
  private final KnownClients clients;
  private final HeldListener listener;
  private final CallListener calls;

  /**
   * Creates the service.
   *
   * @param holdAfter time after which calls of an upstream are answered with a handle; empty for
   *     never
   */
  public HeldCalls(
      Relay relay,
      StatelessRelay stateless,
      Seal seal,
      HeldConfig config,
      Function<String, Optional<Duration>> holdAfter,
      KnownClients clients,
      HeldListener listener,
      CallListener calls) {
    this.relay = relay;
    this.stateless = stateless;
    this.seal = seal;
    this.config = config;
    this.holdAfter = holdAfter;
    this.clients = clients;
    this.listener = listener;
    this.calls = calls;
  }

  /**
   * Takes messages, and changes the answers to lists and calls of tools. Throws as the next step
   * does.
   *
   * @param next takes what the gateway does not answer itself
   */
  public Reply take(Exchange exchange, Supplier<Reply> next) {
    Optional<Duration> most = holdAfter.apply(exchange.upstream());
    if (most.isEmpty()
        || exchange.conversation() instanceof Conversation.Sse
        || !(exchange.body() instanceof Body.Single(Message.Request request))) {
      return next.get();
    }
    return switch (request.method()) {
      case Methods.TOOLS_LIST -> withTool(next.get());
      case Methods.TOOLS_CALL -> {
        Client client = new Client(exchange, request, System.nanoTime(), most.get());
        if (!config.tool().equals(request.toolName())) {
          // A call that becomes a task ends as one.
          yield held(next.get(), client);
        }
        Reply refusal =
            exchange.conversation() instanceof Conversation.Single(var header)
                ? stateless.check(exchange.upstream(), request, header)
                : null;
        yield refusal == null ? collect(client) : refusal;
      }
      default -> next.get();
    };
  }

  private Reply withTool(Reply reply) {
    return switch (reply) {
      case Reply.Json(byte[] document, int status) -> new Reply.Json(addTool(document), status);
      case Reply.Stream(Tail tail, boolean isComplete) ->
          new Reply.Stream(tail.wrapped(ToolAdded::new), isComplete);
      default -> reply;
    };
  }

  /** Adds the tool to the last page of a list. */
  private byte[] addTool(byte[] response) {
    String tools = JsonEdit.raw(response, "result", "tools");
    if (hasOwn(tools)) {
      TAKEN.warn(LOG, "the server has a tool with the name of calls.tool tool=%s", config.tool());
      return response;
    }
    if (tools == null
        || !tools.startsWith("[")
        || JsonEdit.text(JsonEdit.raw(response, "result", "nextCursor")) != null) {
      return response;
    }
    String before = tools.substring(0, tools.lastIndexOf(']')).stripTrailing();
    String comma = before.equals("[") ? "" : ",";
    return new JsonEdit()
        .set(before + comma + DESCRIPTION.replace("{wait}", config.tool()) + "]", "result", "tools")
        .apply(response);
  }

  private boolean hasOwn(@Nullable String tools) {
    String name = JsonEdit.quote(config.tool());
    return tools != null
        && tools.contains(name)
        && JsonEdit.elements(tools).stream()
            .anyMatch(each -> name.equals(JsonEdit.raw(each.getBytes(UTF_8), "name")));
  }

  /** Adds the tool to a list that comes as a stream. */
  private final class ToolAdded extends ForwardingTranslation {

    ToolAdded(Translation inner) {
      super(inner);
    }

    @Override
    public byte[] translate(Position position, byte[] message) {
      byte[] translated = super.translate(position, message);
      return translated.length > 0
              && Envelopes.read(translated) instanceof Body.Single(Message.Response response)
          ? addTool(response.bytes())
          : translated;
    }
  }

  private Reply held(Reply reply, Client client) {
    if (!(reply instanceof Reply.Stream(Tail tail, boolean isComplete)) || isComplete) {
      return reply;
    }
    String tool = Objects.requireNonNullElse(client.request.toolName(), "The tool");
    return bounded(tail, client, false, tool, CallHandle.of(tail.stream()));
  }

  private Reply bounded(
      Tail tail, Client client, boolean collects, String tool, CallHandle handle) {
    // Not the whole request, whose arguments may be large.
    RequestId id = client.request.id();
    Principal principal = client.exchange.caller().principal();
    String upstream = client.exchange.upstream();
    boolean isStateless = client.isStateless();
    HeldResult.Texts texts =
        new HeldResult.Texts() {
          @Override
          public byte[] running(boolean asked) {
            String text = handle.seal(seal, principal, upstream);
            String running = config.heldText().orElse(HELD);
            return answer(
                running
                        .replace("{tool}", tool)
                        .replace("{wait}", config.tool())
                        .replace("{handle}", text)
                    + (asked ? ASKED : ""));
          }

          @Override
          public byte[] none() {
            return answer(NOT_KEPT);
          }

          private byte[] answer(String text) {
            return HeldResult.text(id, text, isStateless);
          }
        };
    HeldListener told =
        event -> {
          listener.held(event);
          if (event == HeldListener.Event.HELD || event == HeldListener.Event.WAITED) {
            calls.held(tail.stream());
          }
        };
    Duration passed = Duration.ofNanos(System.nanoTime() - client.arrived);
    Duration most = least(client.most, timeLimit(client, tail)).minus(passed);
    return new Reply.Stream(
        tail.wrapped(inner -> new HeldResult(inner, client.request, most, collects, texts, told)));
  }

  /** Time after which the client gives up; null if that is not known. */
  private @Nullable Duration timeLimit(Client client, Tail tail) {
    if (!client.isStateless()) {
      return tail.timeLimit();
    }
    byte[] request = client.request.bytes();
    String name =
        JsonEdit.text(JsonEdit.raw(request, "params", "_meta", MetaKeys.CLIENT_INFO, "name"));
    String version =
        JsonEdit.text(JsonEdit.raw(request, "params", "_meta", MetaKeys.CLIENT_INFO, "version"));
    return clients.find(client.exchange.caller().userAgent(), name + "/" + version).timeLimit();
  }

  private Reply collect(Client client) {
    String text =
        JsonEdit.text(JsonEdit.raw(client.request.bytes(), "params", "arguments", "handle"));
    CallHandle handle =
        CallHandle.open(
                seal,
                text == null ? null : text.strip(),
                client.exchange.caller().principal(),
                client.exchange.upstream())
            .orElse(null);
    if (handle == null) {
      return notFound(client, UNKNOWN);
    }
    Tail tail = tail(client, handle.start());
    return tail == null
        ? notFound(client, NOT_KEPT)
        : bounded(tail.withoutIds(), client, true, "The call", handle);
  }

  private Reply notFound(Client client, String why) {
    listener.held(HeldListener.Event.NOT_FOUND);
    return new Reply.Json(HeldResult.text(client.request.id(), why, client.isStateless()), 200);
  }

  /** Reads the stream of a call from its oldest event; null if it is no longer kept. */
  private @Nullable Tail tail(Client client, EventId start) {
    SessionId session = Objects.requireNonNull(start.session());
    try {
      Optional<Tail> tail =
          client.isStateless()
              ? stateless.resume(client.exchange.upstream(), client.exchange.caller(), start)
              : relay.reopen(
                  client.exchange.upstream(),
                  session,
                  client.exchange.caller(),
                  new EventId(start.stream(), start.position()),
                  (_, reopened) -> reopened);
      return tail.orElse(null);
    } catch (RelayException.SessionNotFound
        | RelayException.StreamNotFound
        | RelayException.EventsPurged gone) {
      return null;
    }
  }

  /** Answers a client before it gives up. */
  private static Duration least(Duration configured, @Nullable Duration limit) {
    Duration most = limit == null ? configured : limit.multipliedBy(3).dividedBy(4);
    return most.compareTo(configured) < 0 ? most : configured;
  }

  /** The sender of a call, and how long it waits. */
  private record Client(Exchange exchange, Message.Request request, long arrived, Duration most) {

    boolean isStateless() {
      return exchange.conversation() instanceof Conversation.Single;
    }
  }
}
