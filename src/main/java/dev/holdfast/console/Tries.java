package dev.holdfast.console;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.auth.RequiredScopes;
import dev.holdfast.call.Caller;
import dev.holdfast.call.Conversation;
import dev.holdfast.call.Exchange;
import dev.holdfast.call.SessionId;
import dev.holdfast.console.access.ConsoleRequest;
import dev.holdfast.console.access.RefusedException;
import dev.holdfast.console.fleet.Call;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.LogEvent;
import dev.holdfast.log.Position;
import dev.holdfast.log.ReadResult;
import dev.holdfast.log.StreamRef;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.InitializeRequest;
import dev.holdfast.protocol.JsonRpcMessages;
import dev.holdfast.protocol.Message;
import dev.holdfast.relay.Relay;
import dev.holdfast.relay.Reply;
import dev.holdfast.relay.session.SessionOpener;
import dev.holdfast.relay.stream.EventId;
import dev.holdfast.relay.stream.RelayException;
import dev.holdfast.relay.tail.Tail;
import dev.holdfast.seal.Seal;
import dev.holdfast.session.Session;
import dev.holdfast.upstream.UpstreamException;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;

/**
 * Tools that operators try: as a client with a session of its own, which calls, loses its
 * connection and resumes. The page keeps the session, sealed for the operator. Methods block.
 */
public final class Tries {

  private static final Duration LIFE = Duration.ofHours(1);
  private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(20);

  /** Calls that pages follow at once. */
  private static final int MAX_FOLLOWED = 50;

  private static final Duration POLL = Duration.ofMillis(50);

  /** Pages of a list of tools that are read. */
  private static final int MAX_PAGES = 10;

  private final Relay relay;
  private final EventLog log;
  private final Seal seal;
  private final RequiredScopes scopes;
  private final String version;
  private final Semaphore followed = new Semaphore(MAX_FOLLOWED);

  /** Creates the room. */
  public Tries(Relay relay, EventLog log, Seal seal, RequiredScopes scopes, String version) {
    this.relay = relay;
    this.log = log;
    this.seal = seal;
    this.scopes = scopes;
    this.version = version;
  }

  /** A session of an operator with a server. */
  private record Opened(String upstream, Conversation.Streamable session, Caller caller) {

    Reply send(Relay relay, String message) {
      return send(relay, Envelopes.read(message.getBytes(UTF_8)));
    }

    Reply send(Relay relay, Body body) {
      return relay.take(
          session, new Exchange(upstream, session, caller, body, () -> false), () -> {});
    }
  }

  /**
   * Opens a session with a server, and lists its tools.
   *
   * @throws RefusedException when the operator may not use the server, or it does not answer
   */
  JsonObject open(ConsoleRequest request) {
    String upstream = String.valueOf(request.body().getValue("server"));
    Caller caller = caller(request);
    check(upstream, caller);
    return answered(() -> {
      SessionOpener.InitializeReply reply = relay.open(upstream, initialize(version), caller);
      Session session = reply.session();
      if (session == null) {
        throw new RefusedException(502, "the server opens no session");
      }
      Opened opened = new Opened(upstream, new Conversation.Streamable(session.id()), caller);
      Reply _ = opened.send(relay, JsonRpcMessages.INITIALIZED);
      JsonObject result = result(reply.messages().getLast());
      return new JsonObject()
          .put("try", sealed(request, upstream, session.id().value()))
          .put("version", result.getString("protocolVersion"))
          .put("info", result.getJsonObject("serverInfo"))
          .put("capabilities", result.getJsonObject("capabilities"))
          .put("tools", tools(opened));
    });
  }

  /**
   * The operator may have lost the scope since the session was opened, or the server may need it.
   */
  private void check(String upstream, Caller caller) {
    scopes
        .missing(upstream, caller)
        .ifPresent(scope -> {
          throw new RefusedException(403, "the scope " + scope + " is missing");
        });
  }

  /** A request that opens a session for a program that answers no questions. */
  public static Message.Request initialize(String version) {
    return InitializeRequest.of("holdfast-console", version);
  }

  private JsonArray tools(Opened opened) {
    JsonArray tools = new JsonArray();
    String cursor = null;
    for (int page = 0; page < MAX_PAGES; page++) {
      JsonObject params =
          cursor == null ? new JsonObject() : new JsonObject().put("cursor", cursor);
      JsonObject result = ask(opened, message("tools/list", params));
      Object listed = result.getValue("tools");
      if (listed instanceof JsonArray some) {
        some.forEach(tools::add);
      }
      cursor = result.getValue("nextCursor") instanceof String next ? next : null;
      if (cursor == null) {
        break;
      }
    }
    return tools;
  }

  private JsonObject ask(Opened opened, String message) {
    return switch (opened.send(relay, message)) {
      case Reply.Json(byte[] document, int _) -> result(document);
      case Reply.Stream(Tail tail, boolean _) -> result(last(unfollowed(tail)));
      case Reply.Acknowledgement _, Reply.Initialization _ ->
          throw new RefusedException(502, "the server does not answer");
    };
  }

  /** Ends the connection of a tail before it begins: the log has the messages. */
  private static StreamRef unfollowed(Tail tail) {
    tail.run(new GoneConnection());
    return tail.stream();
  }

  /** Waits for the last message of a stream. */
  private byte[] last(StreamRef stream) {
    Position after = Position.START;
    long end = System.nanoTime() + ANSWER_TIMEOUT.toNanos();
    while (System.nanoTime() - end < 0) {
      if (log.readStored(stream, after, 100, EventLog.PAGE_BYTES)
              instanceof ReadResult.Events(List<LogEvent> events)
          && !events.isEmpty()) {
        if (events.getLast().last()) {
          return events.getLast().payload();
        }
        after = events.getLast().position();
      }
      try {
        Thread.sleep(POLL);
      } catch (InterruptedException stop) {
        Thread.currentThread().interrupt();
        break;
      }
    }
    throw new RefusedException(504, "the server does not answer in time");
  }

  private static JsonObject result(byte[] response) {
    try {
      JsonObject message = new JsonObject(new String(response, UTF_8));
      if (message.getValue("result") instanceof JsonObject result) {
        return result;
      }
      throw new RefusedException(
          502,
          message.getValue("error") instanceof JsonObject error
              ? String.valueOf(error.getValue("message"))
              : "the server does not answer");
    } catch (DecodeException malformed) {
      throw new RefusedException(502, "the server answers no JSON object");
    }
  }

  /** Calls a tool. The call goes on by itself; {@link #follow} reads it. */
  JsonObject call(ConsoleRequest request) {
    JsonObject body = request.body();
    Opened opened = allowed(request, String.valueOf(body.getValue("try")));
    JsonObject params =
        new JsonObject()
            .put("name", body.getValue("tool"))
            .put("arguments", body.getValue("arguments"))
            .put("_meta", new JsonObject().put("progressToken", "try"));
    return answered(() ->
        switch (opened.send(relay, message("tools/call", params))) {
          case Reply.Json(byte[] document, int _) ->
              new JsonObject().put("answer", new String(document, UTF_8));
          case Reply.Stream(Tail tail, boolean _) -> {
            StreamRef stream = unfollowed(tail);
            yield new JsonObject().put("key", Call.key(stream)).put("stream", stream.name());
          }
          case Reply.Acknowledgement _, Reply.Initialization _ ->
              throw new RefusedException(502, "the server does not answer");
        });
  }

  /**
   * Follows a call from an event on, as a client that resumes. The answer is a stream of events;
   * 204 when the page has all of it.
   *
   * @throws RefusedException when too many pages follow calls, or there is no such call
   */
  void follow(ConsoleRequest request) {
    JsonObject body = request.body();
    Opened opened = allowed(request, String.valueOf(body.getValue("try")));
    EventId last =
        EventId.parse(String.valueOf(body.getValue("last")))
            .orElseThrow(() -> new RefusedException(400, "last must be the id of an event"));
    if (!followed.tryAcquire()) {
      throw new RefusedException(503, "too many calls are followed; try again later");
    }
    Optional<Tail> tail = Optional.empty();
    try {
      tail =
          answered(
              () -> relay.resume(opened.upstream(), opened.session().id(), opened.caller(), last));
    } finally {
      if (tail.isEmpty()) {
        followed.release();
      }
    }
    HttpServerResponse response = request.routing().response();
    if (tail.isEmpty()) {
      var _ = response.setStatusCode(204).end();
      return;
    }
    Tail found = tail.get();
    PageConnection page = new PageConnection(response, followed::release);
    Thread _ = Thread.ofVirtual().name("console-try").start(() -> found.run(page));
  }

  /** Ends the session of a try. */
  void end(ConsoleRequest request) {
    Opened opened = opened(request, String.valueOf(request.body().getValue("try")));
    answered(() -> {
      relay.end(opened.upstream(), opened.session(), opened.caller());
      return true;
    });
  }

  private interface Work<T> {
    T run();
  }

  private static <T> T answered(Work<T> work) {
    try {
      return work.run();
    } catch (RelayException refused) {
      throw new RefusedException(409, String.valueOf(refused.getMessage()));
    } catch (UpstreamException failed) {
      throw new RefusedException(502, String.valueOf(failed.getMessage()));
    }
  }

  private static Caller caller(ConsoleRequest request) {
    return Caller.of(request.operator().principal(), request.operator().names(), null)
        .at(request.address(), request.address(), "holdfast-console");
  }

  private String sealed(ConsoleRequest request, String upstream, String session) {
    Instant end = seal.clock().instant().plus(LIFE);
    JsonArray content = new JsonArray().add(upstream).add(session);
    return seal.seal(content.encode().getBytes(UTF_8), end, bound(request));
  }

  private Opened opened(ConsoleRequest request, String handle) {
    return seal.open(handle, bound(request))
        .map(content -> new JsonArray(new String(content, UTF_8)))
        .map(content ->
            new Opened(
                content.getString(0),
                new Conversation.Streamable(new SessionId(content.getString(1))),
                caller(request)))
        .orElseThrow(() -> new RefusedException(404, "there is no such try"));
  }

  private Opened allowed(ConsoleRequest request, String handle) {
    Opened opened = opened(request, handle);
    check(opened.upstream(), opened.caller());
    return opened;
  }

  private static List<String> bound(ConsoleRequest request) {
    return List.of("console-try", request.operator().principal().recorded());
  }

  private static String message(String method, JsonObject params) {
    return new JsonObject()
        .put("jsonrpc", "2.0")
        .put("id", 1)
        .put("method", method)
        .put("params", params)
        .encode();
  }
}
