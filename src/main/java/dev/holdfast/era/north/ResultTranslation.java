package dev.holdfast.era.north;

import dev.holdfast.call.SessionId;
import dev.holdfast.log.Position;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.ClientCapabilities;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.JsonRpcMessages;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.MetaKeys;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.tail.Translation;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Translates the messages of a call for a client without a session. What such a client cannot get
 * is left out; what the server asks ends the response, and a retry goes on after it.
 */
final class ResultTranslation implements Translation {

  private static final byte[] NOTHING = {};

  /** Rounds in a row in which nothing is asked; some clients fail at a third. */
  private static final int MAX_PAUSES = 2;

  /** Progress of the response. */
  private enum Progress {
    OPEN,
    PAUSED,
    /** The call is a task. */
    TASK,
    COMPLETE
  }

  private StatelessCall call;
  private final boolean translated;
  private final ServerDescription discovery;
  private final ServerRequests asked = new ServerRequests();

  /** Null until a resumed stream tells it. */
  private @Nullable ClientRequest request;

  /** The stream of the call; empty while the answer is no stream. */
  private String stream = "";

  /** The round before, where a retry goes on; null in the first one. */
  private RetryState.@Nullable Call before;

  /** The capability that the server needs and the client has not declared; null for none. */
  private @Nullable String missing;

  /** Null if the call does not become a task. */
  private @Nullable TaskOffer offer;

  private int pauses;
  private Position newest = Position.START;
  private Progress progress = Progress.OPEN;

  /**
   * Creates a translation for the first round of a call.
   *
   * @param translated true if the server speaks a revision with sessions
   */
  ResultTranslation(
      StatelessCall call,
      @Nullable ClientRequest request,
      boolean translated,
      ServerDescription discovery) {
    this.call = call;
    this.request = request;
    this.translated = translated;
    this.discovery = discovery;
  }

  /** Follows the stream of the call. */
  ResultTranslation of(String streamName) {
    stream = streamName;
    return this;
  }

  /** Makes the call a task if it runs for long; null for never. */
  ResultTranslation offering(@Nullable TaskOffer task) {
    offer = translated ? task : null;
    return this;
  }

  /** Goes on where an earlier round has ended. */
  ResultTranslation after(RetryState.Call round, int pausesBefore) {
    before = round;
    pauses = pausesBefore;
    newest = round.from();
    return of(round.stream());
  }

  @Override
  public void requests(List<RequestId> open) {
    if (open.isEmpty()) {
      return;
    }
    call = call.withId(open.getFirst().json());
    if (request == null) {
      request = ClientRequest.ofCall(call.id());
    }
  }

  @Override
  public byte[] translate(Position position, byte[] message) {
    Position previous = newest;
    newest = position;
    if (!(Envelopes.read(message) instanceof Body.Single(Message single))) {
      return message; // A batch, which only servers of 2025-03-26 may send.
    }
    boolean known = before != null && position.compareTo(before.cursor()) <= 0;
    return switch (single) {
      case Message.Request question when translated -> ask(question, previous);
      case Message.Request _ -> NOTHING;
      case Message.Notification _ when known -> NOTHING;
      case Message.Notification notification -> notification(notification);
      case Message.Response response -> {
        progress = Progress.COMPLETE;
        yield response(response);
      }
    };
  }

  private byte[] ask(Message.Request question, Position previous) {
    if (before != null && before.isAnswered(question.id(), newest)) {
      return NOTHING;
    }
    if (question.method().equals(Methods.PING)) {
      call.sendLater(JsonRpcMessages.result(question.id(), "{}"));
      return NOTHING;
    }
    if (request == null || !request.allows(question.method())) {
      call.refuse(question.id(), "The client cannot be asked for " + question.method());
      return NOTHING;
    }
    String declared = request.capabilities();
    if (declared != null && missing == null) {
      missing = new ClientCapabilities(declared).missing(question.method(), question.bytes());
    }
    asked.add(question, previous, newest);
    return NOTHING;
  }

  private byte[] notification(Message.Notification notification) {
    if (notification.cancelledRequestId() != null) {
      asked.remove(notification.cancelledRequestId());
      return NOTHING;
    }
    return switch (notification.method()) {
      case Methods.NOTIFICATIONS_PROGRESS -> {
        String token = CallId.ofClient(notification.progressToken());
        yield token == null
            ? NOTHING
            : new JsonEdit().set(token, "params", "progressToken").apply(notification.bytes());
      }
      case Methods.NOTIFICATIONS_MESSAGE -> {
        String level = JsonEdit.text(JsonEdit.raw(notification.bytes(), "params", "level"));
        yield request != null && request.wantsLog(level) ? notification.bytes() : NOTHING;
      }
      default -> translated ? NOTHING : tagged(notification.bytes());
    };
  }

  /** The client knows its subscription by the id that it chose. */
  private byte[] tagged(byte[] notification) {
    return request == null
            || JsonEdit.raw(notification, "params", "_meta", MetaKeys.SUBSCRIPTION_ID) == null
        ? notification
        : new JsonEdit()
            .set(request.id(), "params", "_meta", MetaKeys.SUBSCRIPTION_ID)
            .apply(notification);
  }

  private byte[] response(Message.Response response) {
    if (request == null && response.id() != null) {
      request = ClientRequest.ofCall(response.id().json());
    }
    if (request == null) {
      return response.bytes();
    }
    JsonEdit edit = new JsonEdit().set(request.id(), "id");
    if (response.error()) {
      return translated ? error(request, response, edit) : edit.apply(response.bytes());
    }
    edit.add("\"complete\"", "result", "resultType");
    addServerInfo(edit);
    if (StatelessMethods.CACHEABLE.contains(request.method())) {
      edit.add("0", "result", "ttlMs").add("\"private\"", "result", "cacheScope");
    }
    if (request.method().equals(Methods.SUBSCRIPTIONS_LISTEN)
        && JsonEdit.raw(response.bytes(), "result", "_meta", MetaKeys.SUBSCRIPTION_ID) != null) {
      edit.set(request.id(), "result", "_meta", MetaKeys.SUBSCRIPTION_ID);
    }
    if (!translated) {
      String state = JsonEdit.raw(response.bytes(), "result", "requestState");
      if (state != null) {
        edit.set(
            JsonEdit.quote(sealed(request, Optional.empty(), state)), "result", "requestState");
      }
    }
    return edit.apply(response.bytes());
  }

  /** Replaces codes that the revision does not know. */
  private byte[] error(ClientRequest of, Message.Response response, JsonEdit edit) {
    String code = String.valueOf(JsonEdit.raw(response.bytes(), "error", "code"));
    switch (code) {
      case "-32042" -> {
        return signIn(of, response);
      }
      case "-32021" -> {} // Of a tool of the gateway, which knows the client.
      case "-32002" -> edit.set("-32602", "error", "code");
      default -> {
        if (code.matches("-320[2-9]\\d")) {
          edit.set("-32603", "error", "code");
        }
      }
    }
    return edit.apply(response.bytes());
  }

  /** A server of 2025-11-25 wants the user to open a page first. A retry calls it again. */
  private byte[] signIn(ClientRequest of, Message.Response response) {
    String declared = of.capabilities();
    if (declared != null && !new ClientCapabilities(declared).has("elicitation", "url")) {
      return StatelessException.missingCapability("{\"elicitation\":{\"url\":{}}}")
          .toError(new RequestId(of.id()));
    }
    List<String> pages =
        JsonEdit.elements(JsonEdit.raw(response.bytes(), "error", "data", "elicitations"));
    JsonEdit input = new JsonEdit();
    for (int i = 0; i < pages.size(); i++) {
      String key = "page" + (i + 1);
      input.set(JsonEdit.quote(ClientCapabilities.ELICITATION), key, "method");
      input.set(new JsonEdit().remove("elicitationId").apply(pages.get(i)), key, "params");
    }
    String requests = input.toJson();
    return inputRequired(of, requests, sealed(of, Optional.empty(), ""));
  }

  private void addServerInfo(JsonEdit edit) {
    if (!discovery.equals(ServerDescription.UNKNOWN)) {
      edit.add(discovery.serverInfo(), "result", "_meta", MetaKeys.SERVER_INFO);
    }
  }

  @Override
  public @Nullable Duration untilPause() {
    return asked.isEmpty() && offer != null && mayPause()
        ? offer.left(id(), call, stream, newest)
        : asked.untilRound();
  }

  /** The id that the client chose. */
  private RequestId id() {
    return new RequestId(Objects.requireNonNull(request).id());
  }

  @Override
  public boolean canPause() {
    return mayPause()
        && (offer != null || !asked.isEmpty() || mayPauseAgain(Objects.requireNonNull(request)));
  }

  private boolean mayPause() {
    return translated && progress == Progress.OPEN && request != null && !stream.isEmpty();
  }

  private boolean mayPauseAgain(ClientRequest of) {
    return pauses < MAX_PAUSES && StatelessMethods.ASKING.contains(of.method());
  }

  @Override
  public byte[] pause(Position cursor) {
    ClientRequest of = Objects.requireNonNull(request);
    if (missing != null) {
      call.cancel();
      progress = Progress.PAUSED;
      return StatelessException.missingCapability(missing).toError(new RequestId(of.id()));
    }
    if (asked.isEmpty() && offer != null) {
      byte[] task = offer.take(id(), call, stream, newest);
      progress = Progress.TASK;
      return task;
    }
    Position from = asked.from();
    RetryState.Call round =
        new RetryState.Call(
            call.session(),
            call.endsSession(),
            stream,
            call.id(),
            from == null ? cursor : from,
            cursor,
            asked.ids(),
            SessionId.random().value());
    pauses = asked.isEmpty() ? pauses + 1 : 0;
    progress = Progress.PAUSED;
    if (!asked.isEmpty()) {
      call.endUnlessAnswered(round);
    }
    return inputRequired(of, asked.toJson(), sealed(of, Optional.of(round), ""));
  }

  private String sealed(ClientRequest of, Optional<RetryState.Call> round, String serverState) {
    StatelessContext context = call.context();
    return new RetryState(round, serverState, pauses)
        .seal(context.seal(), context.expiry(), call.caller(), call.upstream(), of);
  }

  private byte[] inputRequired(ClientRequest of, String requests, String state) {
    JsonEdit result =
        new JsonEdit()
            .set("\"2.0\"", "jsonrpc")
            .set(of.id(), "id")
            .set("\"input_required\"", "result", "resultType")
            .set(requests, "result", "inputRequests")
            .set(JsonEdit.quote(state), "result", "requestState");
    addServerInfo(result);
    return result.toBytes();
  }

  @Override
  public boolean isHandedOver() {
    return progress == Progress.TASK;
  }

  @Override
  public void closed(boolean left) {
    if (progress == Progress.COMPLETE) {
      call.completed(stream);
    } else if (progress != Progress.PAUSED && left) {
      call.left(stream);
    }
  }
}
