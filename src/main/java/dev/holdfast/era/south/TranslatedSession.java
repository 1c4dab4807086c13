package dev.holdfast.era.south;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.lock.AutoLock;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.JsonRpcMessages;
import dev.holdfast.protocol.LogLevels;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.session.SessionStoreException;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.BatchAnswer;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamSession;
import dev.holdfast.upstream.state.ResourceList;
import dev.holdfast.upstream.state.SessionMemory;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A session of a client before 2026-07-28 with a server of that revision, which keeps none. The
 * state of the session is in its link, in the {@link SessionMemory}, and in its running calls.
 *
 * @param server the server, which gets each request for itself
 */
record TranslatedSession(
    ClientFacts client, UpstreamSession server, SessionMemory memory, Shared shared)
    implements UpstreamSession {

  private static final Set<String> LOGGING =
      Set.of(Methods.TOOLS_CALL, Methods.PROMPTS_GET, Methods.RESOURCES_READ);

  private static final String AWAY = "The gateway's store does not answer";

  /**
   * Parts that all sessions of a server on this replica share.
   *
   * @param patience time for an answer of a client; zero for no limit
   * @param held budget of messages that wait for their readers, and of requests that run
   * @param subscriptions by the names of their sessions
   * @param locks guard the lists of resources of sessions
   */
  record Shared(
      ClientAnswers answers,
      Duration patience,
      ByteBudget held,
      Map<String, Subscription> subscriptions,
      List<AutoLock> locks) {

    AutoLock lock(ClientFacts client) {
      return locks.get(Math.floorMod(client.session().hashCode(), locks.size()));
    }
  }

  @Override
  public Answer request(Body body) {
    return switch (body) {
      case Body.Single(Message.Request request) -> answer(request, memory);
      case Body.Single _ -> throw new IllegalArgumentException("There is no request in the body");
      // The stream of a batch has other calls, too, which end with a lost replica.
      case Body.Batch batch ->
          BatchAnswer.of(
              batch, shared.held(), request -> answer(request, memory.none()), this::accept);
    };
  }

  /**
   * Answers a request.
   *
   * @param kept keeps the state of the call
   */
  private Answer answer(Message.Request request, SessionMemory kept) {
    return switch (request.method()) {
      case Methods.PING -> new Answer.Json(JsonRpcMessages.result(request.id(), "{}"));
      case Methods.SET_LEVEL -> new Answer.Json(setLevel(request));
      case Methods.RESOURCES_SUBSCRIBE, Methods.RESOURCES_UNSUBSCRIBE ->
          new Answer.Json(subscribe(request));
      case String method when method.startsWith("tasks/") ->
          new Answer.Json(
              JsonRpcErrors.error(
                  request.id(), JsonRpcErrorCode.METHOD_NOT_FOUND, "Method not found"));
      default -> ask(call(request, kept));
    };
  }

  private TranslatedCall.Call call(Message.Request request, SessionMemory kept) {
    String level = LOGGING.contains(request.method()) ? memory.logLevel() : null;
    ClientFacts asking = request.method().equals(Methods.TOOLS_CALL) ? client.withTasks() : client;
    byte[] sent = asking.edit(level).apply(request.bytes());
    return new TranslatedCall.Call(
        request,
        sent,
        asking,
        server,
        shared.answers(),
        kept,
        shared.patience(),
        shared.held().newClaim());
  }

  /** Counts the bytes of a call's request. Returns false if there are too many. */
  private static boolean count(TranslatedCall.Call call) {
    return call.bytes().set(call.sent().length);
  }

  private Answer ask(TranslatedCall.Call call) {
    if (!count(call)) {
      throw new UpstreamException.Busy();
    }
    Message.Request request = call.original();
    try {
      Answer answer = send(request, call.sent());
      if (!(answer instanceof Answer.Json json)
          || !(json.message().body() instanceof Body.Single(Message.Response response))
          || TranslatedCall.goesOn(response)) {
        return new Answer.Stream(new TranslatedCall(call, answer.source()));
      }
      json.release().run();
      call.bytes().close();
      return new Answer.Json(Results.translate(response, request));
    } catch (Throwable failure) {
      call.bytes().close();
      throw failure;
    }
  }

  /** A request that only reads is sent again when no answer comes. */
  private Answer send(Message.Request request, byte[] sent) {
    Body body = Envelopes.read(sent);
    try {
      return server.request(body);
    } catch (UpstreamException.Broken broken) {
      if (request.method().equals(Methods.TOOLS_CALL) || Thread.currentThread().isInterrupted()) {
        throw broken;
      }
      return server.request(body);
    }
  }

  private byte[] setLevel(Message.Request request) {
    String level = JsonEdit.text(JsonEdit.raw(request.bytes(), "params", "level"));
    if (level == null || !LogLevels.isKnown(level)) {
      return invalid(request, "level must be a log level");
    }
    return memory.save(SessionMemory.LOG_LEVEL, level)
        ? JsonRpcMessages.result(request.id(), "{}")
        : JsonRpcErrors.error(request.id(), JsonRpcErrorCode.INTERNAL_ERROR, AWAY);
  }

  private static byte[] invalid(Message.Request request, String problem) {
    return JsonRpcErrors.error(
        request.id(), JsonRpcErrorCode.INVALID_PARAMS, "Invalid params: " + problem);
  }

  /** Another replica with the standalone stream learns of the change by its inbox. */
  private byte[] subscribe(Message.Request request) {
    String uri = JsonEdit.text(JsonEdit.raw(request.bytes(), "params", "uri"));
    if (uri == null || uri.length() > ResourceList.MAX_URI) {
      return invalid(
          request, "uri must be a string of at most " + ResourceList.MAX_URI + " characters");
    }
    boolean adds = request.method().equals(Methods.RESOURCES_SUBSCRIBE);
    try (var _ = shared.lock(client).hold()) {
      String list =
          memory.change(SessionMemory.RESOURCES, each -> ResourceList.changed(each, uri, adds));
      Set<String> before = ResourceList.read(list);
      if (adds && before.size() >= ResourceList.MAX_RESOURCES && !before.contains(uri)) {
        return invalid(request, "there are too many subscriptions");
      }
      Subscription here = shared.subscriptions().get(client.session());
      if (adds != before.contains(uri) && here != null) {
        Set<String> honoured =
            here.listen(ResourceList.read(ResourceList.changed(list, uri, adds)));
        if (adds && (honoured == null || !honoured.contains(uri))) {
          String _ =
              memory.change(
                  SessionMemory.RESOURCES, each -> ResourceList.changed(each, uri, false));
          return invalid(request, "the server does not offer subscriptions to this resource");
        }
      }
      return JsonRpcMessages.result(request.id(), "{}");
    } catch (SessionStoreException away) {
      return JsonRpcErrors.error(request.id(), JsonRpcErrorCode.INTERNAL_ERROR, AWAY);
    }
  }

  private Set<String> resources() {
    return ResourceList.read(memory.find(SessionMemory.RESOURCES).orElse(null));
  }

  @Override
  public void send(Body messages) {
    messages.messages().forEach(this::accept);
  }

  /** {@inheritDoc} Only a task, and a call whose client is asked, can be resumed. */
  @Override
  public MessageSource resume(String name) {
    CallState state =
        CallState.find(memory, name).orElseThrow(() -> new UpstreamException.SessionGone(true));
    if (Envelopes.read(state.request().getBytes(UTF_8))
        instanceof Body.Single(Message.Request request)) {
      TranslatedCall.Call call = call(request, memory);
      boolean _ = count(call); // It was sent before, so it goes on in any case.
      try {
        return new TranslatedCall(call, state);
      } catch (Throwable failure) {
        call.bytes().close();
        throw failure;
      }
    }
    throw new UpstreamException.Broken("its call is not known", null);
  }

  /**
   * Takes a message of the client. A cancelled call ends with its stream. The server knows no other
   * notifications.
   *
   * @throws SessionStoreException while the store is away and the message needs it
   */
  private void accept(Message message) {
    switch (message) {
      case Message.Response response ->
          shared.answers().complete(client.session(), response, memory);
      case Message.Request request -> {
        try (var _ = shared.lock(client).hold()) {
          Subscription here = shared.subscriptions().get(client.session());
          if (here != null && Methods.isAboutSubscriptions(request.method())) {
            var _ = here.listen(resources());
          }
        }
      }
      case Message.Notification notification -> {
        RequestId cancelled = notification.cancelledRequestId();
        String task = cancelled == null ? null : CallState.remove(memory, cancelled);
        if (task != null) {
          new ServerTask(task, client.withTasks(), server).cancel();
        }
      }
    }
  }

  @Override
  public Optional<MessageSource> listen(@Nullable String after) {
    Subscription subscription = new Subscription(server, client, shared.held());
    // A subscription to a resource that begins meanwhile waits, and sees this one.
    try (var _ = shared.lock(client).hold()) {
      if (subscription.listen(resources()) == null) {
        subscription.close();
        return Optional.empty();
      }
      Subscription before = shared.subscriptions().put(client.session(), subscription);
      if (before != null) {
        before.close();
      }
    } catch (SessionStoreException away) {
      throw new UpstreamException.Broken("its subscriptions are not known", away);
    }
    if (after != null) {
      subscription.tellOfGap();
    }
    return Optional.of(
        subscription.source(() -> shared.subscriptions().remove(client.session(), subscription)));
  }

  @Override
  public void end() {
    Subscription here = shared.subscriptions().remove(client.session());
    if (here != null) {
      here.close();
    }
  }
}
