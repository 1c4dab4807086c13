package dev.holdfast.upstream.renewal;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.LogLevels;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.session.SessionStoreException;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamSession;
import dev.holdfast.upstream.state.ResourceList;
import dev.holdfast.upstream.state.SessionMemory;
import java.util.Optional;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * A session that is renewed when its server has forgotten it. While the server knows it, the store
 * is only asked to keep what the client sets.
 *
 * @param first the session that the client has opened
 * @param memory keeps what a renewal needs
 */
record RenewedSession(
    Renewals renewals, UpstreamLink link, ServerSession first, SessionMemory memory)
    implements UpstreamSession {

  private static final Logger LOG = Logger.getLogger(RenewedSession.class);

  /** To the known session, to one that another replica has opened, and to a renewed one. */
  private static final int MAX_ATTEMPTS = 3;

  /** Something to send to a session. */
  private interface Attempt<T> {
    T send(UpstreamSession session, ServerSession at);
  }

  /** Sends a message. The server has not acted on it if it has forgotten the session. */
  private <T> T send(@Nullable Body message, Attempt<T> attempt) {
    ServerSession at = renewals.known(memory, first);
    boolean renewed = false;
    for (int i = 1; ; i++) {
      try {
        return attempt.send(renewals.attach(link, at), at);
      } catch (UpstreamException.SessionGone gone) {
        if (gone.inCall() || renewed || i == MAX_ATTEMPTS) {
          throw gone;
        }
      }
      Renewals.Found found = renewals.after(memory, at, link, message);
      at = found.session();
      renewed = found.renewed();
    }
  }

  @Override
  public Answer request(Body requests) {
    Answer answer = send(requests, (session, at) -> of(session.request(requests), at));
    for (Message message : requests.messages()) {
      if (message instanceof Message.Request request && !isError(answer)) {
        note(request);
      }
    }
    return answer;
  }

  private static Answer of(Answer answer, ServerSession at) {
    return answer instanceof Answer.Stream(MessageSource source) && at.number() > 0
        ? new Answer.Stream(new RenewedSource(source, at, false))
        : answer;
  }

  private static boolean isError(Answer answer) {
    return answer instanceof Answer.Json json
        && json.message().body() instanceof Body.Single(Message.Response response)
        && response.error();
  }

  /** Keeps what the client has set at the server. Without the store, a renewal does without it. */
  private void note(Message.Request request) {
    try {
      if (request.method().equals(Methods.SET_LEVEL)) {
        String level = parameter(request, "level");
        boolean _ =
            level != null
                && LogLevels.isKnown(level)
                && memory.save(SessionMemory.LOG_LEVEL, level);
      } else if (Methods.isAboutSubscriptions(request.method())) {
        String uri = parameter(request, "uri");
        boolean adds = request.method().equals(Methods.RESOURCES_SUBSCRIBE);
        if (uri != null && uri.length() <= ResourceList.MAX_URI) {
          String _ =
              memory.change(SessionMemory.RESOURCES, list -> ResourceList.changed(list, uri, adds));
        }
      }
    } catch (SessionStoreException away) {
      LOG.debugf("not noted method=%s: %s", request.method(), away.getMessage());
    }
  }

  private static @Nullable String parameter(Message.Request request, String name) {
    return JsonEdit.text(JsonEdit.raw(request.bytes(), "params", name));
  }

  @Override
  public void send(Body messages) {
    if (messages.messages().stream().allMatch(Message.Response.class::isInstance)) {
      answer(messages);
      return;
    }
    boolean _ =
        send(
            messages,
            (session, _) -> {
              session.send(messages);
              return true;
            });
  }

  /** A request of the server is lost with its session. Another one may have used the same id. */
  private void answer(Body responses) {
    try {
      renewals.attach(link, renewals.known(memory, first)).send(responses);
    } catch (UpstreamException.SessionGone gone) {
      LOG.debug("response dropped, the server has forgotten the session");
    }
  }

  /** {@inheritDoc} A new session knows no events of an earlier one. */
  @Override
  public Optional<MessageSource> listen(@Nullable String after) {
    return send(
        null,
        (session, at) ->
            session
                .listen(at.inside(after))
                .map(source -> renewals.listen(memory, new RenewedSource(source, at, true))));
  }

  /** {@inheritDoc} A call is lost with the session to which it was sent. */
  @Override
  public MessageSource resume(String eventId) {
    int number = ServerSession.numberOf(eventId);
    ServerSession at = number == 0 ? first : renewals.known(memory, first);
    if (at.number() < number) {
      at = findAfter(at).orElse(at);
    }
    String own = at.inside(eventId);
    if (own == null) {
      throw new UpstreamException.SessionGone(true);
    }
    MessageSource source = renewals.attach(link, at).resume(own);
    return number == 0 ? source : new RenewedSource(source, at, false);
  }

  private Optional<ServerSession> findAfter(ServerSession session) {
    try {
      return renewals.findAfter(memory, session);
    } catch (SessionStoreException away) {
      throw new UpstreamException.Unreachable(away);
    }
  }

  @Override
  public void prepareEnd() {
    try {
      var _ = renewals.findAfter(memory, renewals.known(memory, first));
    } catch (SessionStoreException away) {
      LOG.debugf("newest session of the server is not known: %s", away.getMessage());
    }
  }

  @Override
  public void end() {
    ServerSession newest = renewals.known(memory, first);
    renewals.forget(memory);
    renewals.attach(link, newest).end();
  }
}
