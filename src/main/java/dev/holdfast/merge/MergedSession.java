package dev.holdfast.merge;

import dev.holdfast.merge.Names.Target;
import dev.holdfast.merge.Offer.Kind;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.JsonRpcMessages;
import dev.holdfast.protocol.LogLevels;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.session.SessionStoreException;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.BatchAnswer;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import dev.holdfast.upstream.state.SessionMemory;
import java.util.Map;
import java.util.Optional;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/** A session with several servers. Each message goes to the server that it is for. */
final class MergedSession implements UpstreamSession {

  private static final Logger LOG = Logger.getLogger(MergedSession.class);

  private final SharedServers shared;
  private final MemberSessions members;
  private final UpstreamLink link;

  /** True once a request has opened a session with a server. */
  private volatile boolean hasOpened;

  MergedSession(SharedServers shared, UpstreamLink link) {
    this.shared = shared;
    this.members = shared.members();
    this.link = link;
  }

  @Override
  public Answer request(Body body) {
    try {
      return switch (body) {
        case Body.Single(Message.Request request) -> answer(request, body);
        case Body.Single _ -> throw new IllegalArgumentException("There is no request in the body");
        case Body.Batch batch ->
            BatchAnswer.of(batch, shared.held(), request -> answer(request, null), this::pass);
      };
    } catch (SessionStoreException away) {
      throw new UpstreamException.Unreachable(away);
    }
  }

  /**
   * Answers a request.
   *
   * @param body the body with the request alone; null if there is none
   */
  private Answer answer(Message.Request request, @Nullable Body body) {
    return switch (request.method()) {
      case Methods.PING -> new Answer.Json(JsonRpcMessages.result(request.id(), "{}"));
      case Methods.SET_LEVEL -> setLevel(request);
      case Methods.TOOLS_CALL -> call(request, body);
      case Methods.PROMPTS_GET -> named(Kind.PROMPT, parameter(request, "name"), request, body);
      case Methods.RESOURCES_READ, Methods.RESOURCES_SUBSCRIBE, Methods.RESOURCES_UNSUBSCRIBE ->
          located(request, body);
      case Methods.COMPLETE -> complete(request, body);
      default -> {
        Kind kind = Kind.ofMethod(request.method());
        yield kind == null
            ? error(request, JsonRpcErrorCode.METHOD_NOT_FOUND, "Method not found")
            : list(request, kind);
      }
    };
  }

  private Answer call(Message.Request request, @Nullable Body body) {
    if (!shared.hasSearch()) {
      return named(Kind.TOOL, request.toolName(), request, body);
    }
    if (SearchTools.FIND.equals(request.toolName())) {
      Names names = shared.names(link);
      JsonEdit result = names.tellProblems(SearchTools.found(request, names::search));
      return new Answer.Json(JsonRpcMessages.result(request.id(), result.toJson()));
    }
    Message.Request direct = SearchTools.direct(request);
    return named(Kind.TOOL, direct.toolName(), direct, direct.equals(request) ? body : null);
  }

  private Answer list(Message.Request request, Kind kind) {
    String cursor = JsonEdit.raw(request.bytes(), "params", "cursor");
    String page = shared.names(link).page(kind, cursor);
    return page == null
        ? error(request, JsonRpcErrorCode.INVALID_PARAMS, "Invalid params: the cursor is unknown")
        : new Answer.Json(JsonRpcMessages.result(request.id(), page));
  }

  private Answer named(
      Kind kind, @Nullable String name, Message.Request request, @Nullable Body body) {
    Names names = shared.known(link.sender());
    Optional<Target> found = names == null ? Optional.empty() : names.find(kind, name);
    if (names == null || found.isEmpty()) {
      names = shared.names(link);
      found = names.find(kind, name);
    }
    if (found.isEmpty()) {
      return unknown(request, "Unknown " + kind.word + ": " + name, names);
    }
    Target target = found.get();
    Body sent = body == null ? new Body.Single(request) : body;
    if (!target.original().equals(name)) {
      sent =
          Envelopes.read(
              new JsonEdit()
                  .set(JsonEdit.quote(target.original()), "params", "name")
                  .apply(request.bytes()));
    }
    return ask(target.member(), sent);
  }

  private Answer located(Message.Request request, @Nullable Body body) {
    String uri = parameter(request, "uri");
    Names names = shared.names(link);
    Optional<String> member = uri == null ? Optional.empty() : names.server(uri);
    if (uri == null || member.isEmpty()) {
      return unknown(request, "Resource not found: " + uri, names);
    }
    Answer answer = ask(member.get(), body == null ? new Body.Single(request) : body);
    if (!request.method().equals(Methods.RESOURCES_READ)
        && answer instanceof Answer.Json json
        && JsonEdit.raw(json.json(), "result") != null) {
      boolean adds = request.method().equals(Methods.RESOURCES_SUBSCRIBE);
      members.subscribed(link, member.get(), uri, adds);
    }
    return answer;
  }

  private Answer complete(Message.Request request, @Nullable Body body) {
    Names names = shared.names(link);
    String prompt = JsonEdit.text(JsonEdit.raw(request.bytes(), "params", "ref", "name"));
    String template = JsonEdit.text(JsonEdit.raw(request.bytes(), "params", "ref", "uri"));
    if (template != null) {
      return names
          .serverOfTemplate(template)
          .or(() -> names.server(template))
          .map(server -> ask(server, body == null ? new Body.Single(request) : body))
          .orElseGet(() -> unknown(request, "Resource not found: " + template, names));
    }
    return names
        .find(Kind.PROMPT, prompt)
        .map(target ->
            ask(
                target.member(),
                Envelopes.read(
                    new JsonEdit()
                        .set(JsonEdit.quote(target.original()), "params", "ref", "name")
                        .apply(request.bytes()))))
        .orElseGet(() -> unknown(request, "Unknown prompt: " + prompt, names));
  }

  private static @Nullable String parameter(Message.Request request, String name) {
    return JsonEdit.text(JsonEdit.raw(request.bytes(), "params", name));
  }

  private static Answer error(Message.Request request, JsonRpcErrorCode code, String message) {
    return new Answer.Json(JsonRpcErrors.error(request.id(), code, message));
  }

  /** The error for a name that no server has told. It may be of one that is away. */
  private static Answer unknown(Message.Request request, String what, Names names) {
    Map<String, String> away = names.problems();
    String servers = away.isEmpty() ? "" : ". Servers that are not available: " + away;
    return error(request, JsonRpcErrorCode.INVALID_PARAMS, what + servers);
  }

  private Answer ask(String member, Body request) {
    if (!shared.rules().tryEnter(member)) {
      throw new UpstreamException.Busy();
    }
    try {
      return sent(member, request);
    } finally {
      shared.rules().leave(member);
    }
  }

  /** A session that a server has lost is opened again, if the server has not had the request. */
  private Answer sent(String member, Body request) {
    UpstreamLink open = open(member, null);
    try {
      return translated(member, members.attach(link, member, open).request(request));
    } catch (UpstreamException.SessionGone gone) {
      if (gone.inCall()) {
        throw lost(gone);
      }
    }
    try {
      UpstreamLink again = open(member, open);
      return translated(member, members.attach(link, member, again).request(request));
    } catch (UpstreamException.SessionGone gone) {
      throw lost(gone);
    }
  }

  /** The session of the client outlives those with its servers. */
  private static UpstreamException lost(UpstreamException.SessionGone gone) {
    return new UpstreamException.Broken("the server lost its session", gone);
  }

  private UpstreamLink open(String member, @Nullable UpstreamLink lost) {
    return members.open(
        link,
        member,
        lost,
        () -> {
          hasOpened = true;
          StandaloneStreams here = shared.listening(link);
          if (here != null) {
            here.listenTo(member);
          }
        });
  }

  private Answer translated(String member, Answer answer) {
    return switch (answer) {
      case Answer.Json json -> json;
      case Answer.Stream(MessageSource source) -> new Answer.Stream(translated(member, source));
    };
  }

  private MessageSource translated(String member, MessageSource source) {
    return new MergedSource(
        source, message -> translated(member, message), id -> member + " " + id);
  }

  private UpstreamMessage translated(String member, UpstreamMessage message) {
    shared.heard(link, member, message);
    String id = message.eventId();
    return MemberIds.toClient(member, message, id == null ? null : member + " " + id);
  }

  private Answer setLevel(Message.Request request) {
    String level = parameter(request, "level");
    if (level == null || !LogLevels.isKnown(level)) {
      return error(
          request, JsonRpcErrorCode.INVALID_PARAMS, "Invalid params: level must be a log level");
    }
    if (!members.memory(link).save(SessionMemory.LOG_LEVEL, level)) {
      return error(request, JsonRpcErrorCode.INTERNAL_ERROR, "The gateway's store does not answer");
    }
    members.setLevel(link, members.open(link));
    return new Answer.Json(JsonRpcMessages.result(request.id(), "{}"));
  }

  /** Runs an action for one server, whose failure is not that of the others. */
  private static void quietly(String member, Runnable action) {
    try {
      action.run();
    } catch (UpstreamException failure) {
      LOG.debugf("message not sent upstream=%s reason=%s", member, failure.getMessage());
    }
  }

  @Override
  public void send(Body messages) {
    try {
      messages.messages().forEach(this::pass);
    } catch (SessionStoreException away) {
      throw new UpstreamException.Unreachable(away);
    }
  }

  /** Passes a message on: to the server whose id it has, or else to all with a session. */
  private void pass(Message message) {
    MemberIds.Id id = MemberIds.idIn(message);
    if (id != null) {
      UpstreamSession session = members.find(link, id.member());
      if (session != null) {
        try {
          session.send(MemberIds.toServer(message, id));
        } catch (UpstreamException.SessionGone gone) {
          throw lost(gone);
        }
      }
    } else if (message instanceof Message.Notification notification
        && !notification.isInitialized()) {
      Body body = new Body.Single(notification);
      members
          .open(link)
          .forEach((member, open) ->
              quietly(member, () -> members.attach(link, member, open).send(body)));
    }
  }

  /** Passes messages on to the servers whose calls may run here, and no others. */
  @Override
  public void told(Body messages) {
    for (Message message : messages.messages()) {
      if (message instanceof Message.Request request) {
        StandaloneStreams here = shared.listening(link);
        if (here != null) {
          here.listen();
        }
        if (!Methods.isAboutSubscriptions(request.method())) {
          continue;
        }
      }
      MemberIds.Id id = MemberIds.idIn(message);
      Body body = id == null ? new Body.Single(message) : MemberIds.toServer(message, id);
      members
          .open(link)
          .forEach((member, open) -> {
            if ((id == null || id.member().equals(member))
                && members.runsInProcess(link, member, open)) {
              quietly(member, () -> members.attach(link, member, open).told(body));
            }
          });
    }
  }

  @Override
  public boolean concernsOthers(Message.Request request) {
    return hasOpened || UpstreamSession.super.concernsOthers(request);
  }

  @Override
  public Optional<MessageSource> listen(@Nullable String after) {
    try {
      StandaloneStreams streams = shared.listen(link, after);
      streams.listen();
      return Optional.of(streams.source(() -> shared.stopListening(link, streams)));
    } catch (SessionStoreException away) {
      throw new UpstreamException.Unreachable(away);
    }
  }

  @Override
  public MessageSource resume(String eventId) {
    int end = eventId.indexOf(' ');
    String member = end < 0 ? "" : eventId.substring(0, end);
    try {
      UpstreamSession session = members.find(link, member);
      if (session == null) {
        throw new UpstreamException.Broken("the server lost its session", null);
      }
      return translated(member, session.resume(eventId.substring(end + 1)));
    } catch (UpstreamException.SessionGone gone) {
      throw lost(gone);
    } catch (SessionStoreException away) {
      throw new UpstreamException.Unreachable(away);
    }
  }

  @Override
  public void prepareEnd() {
    members
        .open(link)
        .forEach((member, open) ->
            quietly(member, () -> members.attach(link, member, open).prepareEnd()));
  }

  @Override
  public void end() {
    stopListening();
    members.end(link);
  }

  @Override
  public void leave() {
    stopListening();
    members.leave(link);
  }

  private void stopListening() {
    StandaloneStreams here = shared.listening(link);
    if (here != null) {
      here.close();
    }
  }
}
