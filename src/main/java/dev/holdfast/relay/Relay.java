package dev.holdfast.relay;

import dev.holdfast.call.Caller;
import dev.holdfast.call.ClientTokens;
import dev.holdfast.call.Conversation;
import dev.holdfast.call.Exchange;
import dev.holdfast.call.SessionId;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.ReadResult;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Message;
import dev.holdfast.relay.legacy.LegacySseRelay;
import dev.holdfast.relay.session.SessionOpener;
import dev.holdfast.relay.session.Sessions;
import dev.holdfast.relay.stream.Admission;
import dev.holdfast.relay.stream.EventId;
import dev.holdfast.relay.stream.RelayException;
import dev.holdfast.relay.stream.TraceListener;
import dev.holdfast.relay.tail.Tail;
import dev.holdfast.session.Session;
import dev.holdfast.session.SessionStore;
import dev.holdfast.upstream.UpstreamException;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Takes the messages of clients, and opens their streams.
 *
 * <p>Thread-safe. Methods block their (virtual) thread. Besides what they name, they throw {@link
 * RelayException} for what this replica refuses, {@link UpstreamException} for a failed upstream,
 * and the exceptions of {@link EventLog} and {@link SessionStore} while the store is away.
 *
 * @param traces null while traces are off
 */
public record Relay(
    Admission admission,
    Sessions sessions,
    SessionOpener opener,
    RequestSender requests,
    StreamFollower streams,
    LegacySseRelay legacy,
    ClientTokens tokens,
    @Nullable TraceListener traces) {

  /**
   * Checks, before the body of a request is read, that this replica would take it.
   *
   * @param session the session that the request names; null if it names none
   * @throws RelayException.Draining if this replica admits no new sessions
   * @throws RelayException.SessionNotFound if the upstream has no such session of the caller
   */
  public void enter(String upstream, Conversation.@Nullable InSession session, Caller caller) {
    if (session == null) {
      admission.enter().close();
    } else {
      sessions.require(upstream, session, caller.principal());
    }
  }

  /**
   * Opens a session over Streamable HTTP.
   *
   * @throws RelayException.UnknownUpstream when no upstream has the name
   * @throws RelayException.UnsupportedVersion when the upstream chose an unknown version
   */
  public SessionOpener.InitializeReply open(
      String upstream, Message.Request initialize, Caller caller) {
    try (Admission.Pass _ = admission.enter()) {
      SessionOpener.InitializeReply reply = opener.initialize(upstream, initialize, caller);
      Session session = reply.session();
      if (session != null) {
        sessions.count(session, caller.address(), false);
        showToken(session, caller);
      }
      return reply;
    }
  }

  /**
   * Takes messages in a session.
   *
   * @param named that of the client, or one of the gateway for a client without a session
   * @param onSent runs when the body of requests is no longer held; not after a failure
   * @throws RelayException.SessionNotFound when there is no such session of the caller
   */
  public Reply take(Conversation.InSession named, Exchange exchange, Runnable onSent) {
    String upstream = exchange.upstream();
    Body body = exchange.body();
    Caller caller = exchange.caller();
    // Of requests with a stream, only that may notice that the session has ended.
    boolean recent =
        switch (named) {
          case Conversation.Streamable _ -> requests.isDurable(body);
          case Conversation.Sse _ -> !body.requestIds().isEmpty();
        };
    Session found =
        recent
            ? sessions.findRecent(upstream, named, caller.principal())
            : sessions.find(upstream, named, caller.principal());
    return counted(found, caller, session -> take(session, exchange, onSent));
  }

  private Reply take(Session session, Exchange exchange, Runnable onSent) {
    Body body = exchange.body();
    if (!session.isInitialized() && Exchange.initializeIn(body) == null) {
      throw new RelayException.NotInitialized();
    }
    RequestSender.checkBatch(session, body);
    if (body.requestIds().isEmpty()) {
      requests.send(session, body, exchange.caller());
      return new Reply.Acknowledgement();
    }
    if (session.hasOneStream()) {
      legacy.request(session, body, exchange.caller(), onSent);
      return new Reply.Acknowledgement();
    }
    return requests.request(session, exchange, onSent);
  }

  /** Runs the work of a request in a session over Streamable HTTP. */
  private <T> T inSession(String upstream, SessionId id, Caller caller, Function<Session, T> work) {
    var named = new Conversation.Streamable(id);
    return counted(sessions.find(upstream, named, caller.principal()), caller, work);
  }

  /** Counts a request in its session. An exception counts as an error. */
  private <T> T counted(Session session, Caller caller, Function<Session, T> work) {
    showToken(session, caller);
    if (traces != null) {
      traces.found(session);
    }
    boolean failed = true;
    try {
      T result = work.apply(session);
      failed = false;
      return result;
    } finally {
      sessions.count(session, caller.address(), failed);
    }
  }

  private void showToken(Session session, Caller caller) {
    if (caller.token() != null) {
      tokens.shown(session.id().value(), caller.token());
    }
  }

  /**
   * Follows the standalone stream of a session.
   *
   * @param fromStart whether from the oldest event in the log; if not, from the first event that
   *     was not delivered
   */
  public Tail listen(String upstream, SessionId id, Caller caller, boolean fromStart) {
    return inSession(upstream, id, caller, session -> streams.listen(session, fromStart));
  }

  /** Follows the standalone stream of a session from its end on, beside others who do. */
  public Tail share(String upstream, SessionId id, Caller caller) {
    return inSession(upstream, id, caller, streams::share);
  }

  /**
   * Resumes a stream.
   *
   * @return empty when the stream is complete and the client has all of it
   * @throws RelayException.EventsPurged when later events were purged and replay stops at gaps
   * @throws RelayException.StreamNotFound when the session has no such stream
   */
  public Optional<Tail> resume(String upstream, SessionId id, Caller caller, EventId last) {
    // The store reads session and page in one round trip. But a page of somebody else's stream is
    // not read, or the size of the page would show in the time.
    Supplier<ReadResult> page = caller.name() == null ? streams.readAhead(id, last) : null;
    return inSession(upstream, id, caller, session -> streams.resume(session, last, page));
  }

  /**
   * Reads a stream again for the answer to another request. This works without replay, too, and
   * does not count as a client that resumes.
   *
   * @param use makes the result, from the session of the stream and its tail
   * @return empty when the stream is complete and has no events after this one
   * @throws RelayException.EventsPurged when no events after this one are kept
   * @throws RelayException.StreamNotFound when the session has no such stream
   */
  public <T> Optional<T> reopen(
      String upstream,
      SessionId id,
      Caller caller,
      EventId last,
      BiFunction<Session, Tail, T> use) {
    return inSession(
        upstream,
        id,
        caller,
        session -> streams.reopen(session, last).map(tail -> use.apply(session, tail)));
  }

  /**
   * Opens a session over HTTP with SSE, and follows its shared stream.
   *
   * @param endpoint the URL to which the client sends messages; the stream begins with it
   * @throws RelayException.UnknownUpstream when no upstream has the name
   */
  public Tail openShared(String upstream, Caller caller, Function<SessionId, String> endpoint) {
    return legacy.open(upstream, caller, endpoint);
  }

  /**
   * Resumes the shared stream of a session. A draining replica allows it too.
   *
   * @throws RelayException.EventsPurged when later events were purged and replay stops at gaps
   */
  public Tail resumeShared(
      String upstream, Caller caller, EventId last, Function<SessionId, String> endpoint) {
    SessionId id =
        Optional.ofNullable(last.session())
            .orElseThrow(() -> new RelayException.SessionNotFound(null, "not named"));
    Session found = sessions.find(upstream, new Conversation.Sse(id), caller.principal());
    return counted(found, caller, session -> legacy.resume(session, last, endpoint));
  }

  /** Ends a session; throws {@link RelayException.SessionNotFound}. */
  public void end(String upstream, Conversation.InSession named, Caller caller) {
    Session session = sessions.find(upstream, named, caller.principal());
    showToken(session, caller);
    sessions.end(session);
    tokens.forget(named.id().value());
  }

  /** Returns true if the server of a session may keep something for it. */
  public boolean isStateful(Session session) {
    return sessions.isStateful(session);
  }

  /** Returns whether this replica drains and clients should go to another one. */
  public boolean isDraining() {
    return admission.isDraining();
  }

  /** The number of streams that this replica writes, standalone streams included. */
  public int openStreams() {
    return streams.starter().pumps().streams().size();
  }
}
