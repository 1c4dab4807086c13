package dev.holdfast.era.south;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.call.Caller;
import dev.holdfast.lock.AutoLock;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.ProtocolVersion;
import dev.holdfast.session.SessionStore;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.ForwardingSession;
import dev.holdfast.upstream.ForwardingUpstream;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.Placement;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamSession;
import dev.holdfast.upstream.state.SessionMemory;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A server of unknown revision. Each new session asks it with {@code server/discover}, unless it
 * was found to open sessions a short time ago.
 *
 * <p>A client names 2026-07-28 in {@code initialize} only inside the gateway. Its session at a
 * server of that revision passes messages on as they are. Earlier clients get a {@link
 * TranslatedSession} there. At other servers, both get a session of the server.
 */
public final class EraUpstream extends ForwardingUpstream {

  private static final String NEW = ProtocolVersion.V2026_07_28.wire();
  private static final String OLD = ProtocolVersion.NEWEST_WITH_SESSIONS.wire();

  /** A server that opens sessions may be replaced by one that does not. */
  private static final Duration VALID = Duration.ofMinutes(5);

  /** Minimum time between two doubts about a server without sessions. */
  private static final Duration DOUBT_INTERVAL = Duration.ofSeconds(10);

  private static final int LOCKS = 64;

  /** Errors of a server that wants a session first, or has never heard of the revision. */
  private static final Set<String> DOUBTFUL =
      Set.of("-32600", "-32601", "-32000", "-32001", Discovery.UNSUPPORTED_VERSION);

  private final Era era;
  private final SessionStore store;
  private final TranslatedSession.Shared shared;
  private final ResultCache cache;

  /** Changes of the server's lists and resources, as far as they are known. */
  private final AtomicLong changes = new AtomicLong();

  /** Nano times. */
  private final AtomicLong oldUntil = new AtomicLong(System.nanoTime());

  private final AtomicLong nextDoubt = new AtomicLong(System.nanoTime());

  /**
   * Puts an upstream behind one that knows both kinds of revisions.
   *
   * @param upstream opens sessions. A {@linkplain UpstreamLink#isStateless stateless} link attaches
   *     to the server without one
   * @param store keeps what the requests of a session have set
   * @param patience time for an answer of a client to the server; zero for no limit
   * @param held budget of messages that wait for their readers, and of requests that run
   * @param cache results for clients of 2026-07-28
   */
  public EraUpstream(
      Upstream upstream,
      Era era,
      SessionStore store,
      Duration patience,
      ByteBudget held,
      ResultCache cache) {
    super(upstream);
    this.era = era;
    this.cache = cache;
    this.store = store;
    shared =
        new TranslatedSession.Shared(
            new ClientAnswers(),
            patience,
            held,
            new ConcurrentHashMap<>(),
            Stream.generate(AutoLock::new).limit(LOCKS).toList());
  }

  @Override
  public Handshake initialize(Message.Request initialize, Caller opener) {
    String asked = JsonEdit.text(JsonEdit.raw(initialize.bytes(), "params", "protocolVersion"));
    boolean isNewClient = NEW.equals(asked);
    if (era == Era.OLD || (era == Era.AUTO && System.nanoTime() - oldUntil.get() < 0)) {
      return openSession(initialize, isNewClient, opener);
    }
    ClientFacts client = ClientFacts.of(initialize);
    return switch (discover(client, opener)) {
      case Discovery.New(Message.Response response, @Nullable String channel) when isNewClient ->
          handshake(initialize, response, NEW, new UpstreamLink(channel, NEW));
      // A session can be resumed, and nothing need be translated.
      case Discovery.New(Message.Response response, @Nullable String channel)
          when era == Era.AUTO && channel == null && opensSessions(response) ->
          openSession(initialize, false, opener);
      case Discovery.New(Message.Response response, @Nullable String channel) -> {
        String version =
            ProtocolVersion.parseWithSessions(String.valueOf(asked))
                .map(ProtocolVersion::wire)
                .orElse(OLD);
        UpstreamLink link = new UpstreamLink(client.at(channel).format(), version);
        yield handshake(initialize, response, version, link);
      }
      case Discovery.Old _ when era == Era.NEW ->
          throw new UpstreamException.Broken("it does not speak " + NEW, null);
      case Discovery.Old _ -> {
        Handshake handshake = openSession(initialize, isNewClient, opener);
        oldUntil.set(System.nanoTime() + VALID.toNanos());
        yield handshake;
      }
      case Discovery.Unknown unknown when era == Era.NEW || unknown.isAboutAnyRequest() ->
          throw unknown.failure();
      case Discovery.Unknown _ -> openSession(initialize, isNewClient, opener);
    };
  }

  /** Returns true if a server speaks a revision with sessions, too. */
  private static boolean opensSessions(Message.Response discovered) {
    return JsonEdit.elements(JsonEdit.raw(discovered.bytes(), "result", "supportedVersions"))
        .stream()
        .map(JsonEdit::text)
        .anyMatch(
            version -> version != null && ProtocolVersion.parseWithSessions(version).isPresent());
  }

  private Discovery discover(ClientFacts client, Caller opener) {
    UpstreamLink server = new UpstreamLink(null, NEW);
    return upstream.placement(server) instanceof Placement.Pinned
        ? Discovery.start(upstream, client, opener)
        : Discovery.ask(upstream.attach(server.with(opener)), client);
  }

  private static Handshake handshake(
      Message.Request initialize, Message.Response discovered, String version, UpstreamLink link) {
    return discovered.error()
        ? new Handshake(Results.translate(discovered, initialize), null, List.of())
        : new Handshake(
            Discovery.initializeResponse(discovered, initialize.id(), version, version.equals(NEW)),
            link,
            List.of());
  }

  /** The server never hears of 2026-07-28: some accept it there and still keep sessions. */
  private Handshake openSession(Message.Request initialize, boolean isNewClient, Caller opener) {
    Message.Request sent = initialize;
    if (isNewClient) {
      JsonEdit edit = new JsonEdit().set(JsonEdit.quote(OLD), "params", "protocolVersion");
      if (Envelopes.read(edit.apply(initialize.bytes()))
          instanceof Body.Single(Message.Request renamed)) {
        sent = renamed;
      }
    }
    Handshake handshake = upstream.initialize(sent, opener);
    UpstreamLink link = handshake.link();
    if (link != null && link.protocolVersion().equals(NEW)) {
      upstream.attach(link.toServer(link.session(), OLD).with(opener)).end();
      throw new UpstreamException.Broken("it chose a version that was not offered", null);
    }
    return handshake;
  }

  /** Returns true if a link leads to a server without sessions, for a client with one. */
  public static boolean translates(UpstreamLink link) {
    return ClientFacts.parse(link.session()) != null;
  }

  @Override
  public UpstreamSession attach(UpstreamLink link) {
    ClientFacts client = ClientFacts.parse(link.session());
    if (client == null && !link.isStateless()) {
      return upstream.attach(link);
    }
    UpstreamLink known = atServer(link, client);
    UpstreamSession server = upstream.attach(known);
    if (known.isStateless()) {
      server = new DoubtedSession(server, known);
    }
    if (client == null) {
      return cache.of(server, changes);
    }
    return new TranslatedSession(client, server, SessionMemory.of(store, link), shared);
  }

  /** Calls of translated sessions wait for answers of their clients. */
  @Override
  public Placement placement(UpstreamLink link) {
    ClientFacts client = ClientFacts.parse(link.session());
    Placement placement = upstream.placement(atServer(link, client));
    return client != null && placement instanceof Placement.Anywhere(String transport)
        ? new Placement.InProcess(transport, false, false)
        : placement;
  }

  private static UpstreamLink atServer(UpstreamLink link, @Nullable ClientFacts client) {
    if (client == null) {
      return link;
    }
    String channel = client.channel();
    return channel == null ? link.stateless(false) : link.toServer(channel, NEW);
  }

  @Override
  public void reopen(UpstreamLink link, Message.Request initialize, boolean initialized) {
    ClientFacts client = ClientFacts.parse(link.session());
    if (client == null && !link.protocolVersion().equals(NEW)) {
      upstream.reopen(link, initialize, initialized);
    } else {
      Message.Request discover =
          Discovery.request(client == null ? ClientFacts.of(initialize) : client);
      upstream.reopen(atServer(link, client), discover, false);
    }
  }

  /** Asks the server again, but not often. */
  private boolean isOldByNow(UpstreamLink link) {
    long now = System.nanoTime();
    long next = nextDoubt.get();
    return era == Era.AUTO
        && now - next >= 0
        && nextDoubt.compareAndSet(next, now + DOUBT_INTERVAL.toNanos())
        && discover(NOBODY, link.sender()) instanceof Discovery.Old;
  }

  private static final ClientFacts NOBODY =
      new ClientFacts("", "{}", "{\"name\":\"holdfast\",\"version\":\"\"}", null);

  /** Requests to a server without sessions, which may have been replaced by one with sessions. */
  private final class DoubtedSession extends ForwardingSession {
    private final UpstreamLink link;

    DoubtedSession(UpstreamSession server, UpstreamLink link) {
      super(server);
      this.link = link;
    }

    @Override
    public Answer request(Body requests) {
      try {
        Answer answer = super.request(requests);
        if (answer instanceof Answer.Json json
            && DOUBTFUL.contains(String.valueOf(JsonEdit.raw(json.json(), "error", "code")))
            && isOldByNow(link)) {
          json.release().run();
          throw new UpstreamException.SessionGone();
        }
        return answer;
      } catch (UpstreamException.Refused refused) {
        if (Set.of(400, 404, 405, 406, 415).contains(refused.status()) && isOldByNow(link)) {
          throw new UpstreamException.SessionGone();
        }
        throw refused;
      }
    }
  }
}
