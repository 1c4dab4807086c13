package dev.holdfast.upstream.stdio;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.InitializeResult;
import dev.holdfast.protocol.JsonLines;
import dev.holdfast.protocol.Message;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.function.Predicate;

/**
 * A server that speaks over stdin and stdout. Each session is a process of its own, from {@code
 * initialize} to the end of the session, on the replica that has started it; here, a session of
 * another one, or whose process has ended, is gone.
 *
 * <p>A process gets SIGTERM or SIGKILL only if it does not end when its stdin is closed. So when
 * this program is killed itself, a server that keeps to the specification ends all the same.
 */
public final class StdioUpstream implements Upstream {

  private static final Logger LOG = System.getLogger(StdioUpstream.class.getName());

  private static final Body INITIALIZED =
      Envelopes.read(
          "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}".getBytes(UTF_8));

  private final StdioUpstreamSettings settings;
  private final Semaphore places;

  /** All processes, also those in their handshake and those that are being ended. */
  private final Set<ChildProcess> running = ConcurrentHashMap.newKeySet();

  /** Those that are a session, by its name. */
  private final Map<String, ChildProcess> sessions = new ConcurrentHashMap<>();

  private volatile boolean closed;

  /** Starts nothing yet. */
  public StdioUpstream(StdioUpstreamSettings settings) {
    this.settings = settings;
    this.places = new Semaphore(settings.maxProcesses());
  }

  /**
   * {@inheritDoc}
   *
   * <p>Starts a process, and ends it again unless it has opened a session within the time until
   * which a server must begin to answer.
   *
   * @throws UpstreamException.Busy if there are as many processes as there may be
   */
  @Override
  public Handshake initialize(Message.Request initialize) {
    return open(UUID.randomUUID().toString(), initialize, handshake -> handshake.link() != null);
  }

  @Override
  public boolean keepsSessions() {
    return true;
  }

  @Override
  public boolean reopens() {
    return settings.respawn();
  }

  /**
   * {@inheritDoc}
   *
   * <p>Starts another process. Its answer is checked and goes nowhere.
   */
  @Override
  public void reopen(UpstreamLink link, Message.Request initialize, boolean initialized) {
    String name = link.session();
    if (name == null || !settings.respawn()) {
      throw new UpstreamException.SessionGone();
    }
    Handshake handshake = open(name, initialize, another -> link.equals(another.link()));
    if (!link.equals(handshake.link())) {
      throw new UpstreamException.Broken("it opens the session in another way", null);
    }
    if (initialized) {
      attach(link).send(INITIALIZED);
    }
    LOG.log(Level.INFO, "upstream={0} has a new process for a session", settings.name());
  }

  /**
   * Starts a process for a session.
   *
   * @param wanted tells whether its answer opens the session
   */
  private Handshake open(String name, Message.Request initialize, Predicate<Handshake> wanted) {
    ChildProcess child = start(name);
    boolean opened = false;
    try {
      Handshake handshake = shakeHands(child, initialize);
      if (wanted.test(handshake)) {
        child.look();
        sessions.put(name, child);
        opened = child.isAlive();
      }
      return handshake;
    } finally {
      if (!opened) {
        sessions.remove(name, child);
        child.stop(new UpstreamException.Broken("no session was opened", null));
      }
    }
  }

  private ChildProcess start(String name) {
    if (closed) {
      throw new UpstreamException.Unreachable(null);
    }
    if (!places.tryAcquire()) {
      throw new UpstreamException.Busy();
    }
    ChildProcess child;
    try {
      child = ChildProcess.start(settings, name, this::gone);
    } catch (UpstreamException.Unreachable e) {
      places.release();
      throw e;
    }
    running.add(child);
    if (closed) {
      child.stop(new UpstreamException.Unreachable(null));
    }
    if (child.isGone()) {
      running.remove(child);
    }
    return child;
  }

  private void gone(ChildProcess child) {
    running.remove(child);
    // Only this one: the session may have another by now.
    sessions.remove(child.session(), child);
    places.release();
  }

  private Handshake shakeHands(ChildProcess child, Message.Request initialize) {
    long start = System.nanoTime();
    Exchange exchange =
        child.router().open(List.of(initialize)).orElseThrow(IllegalStateException::new);
    child.send(JsonLines.singleLine(initialize.bytes()), settings.firstByteTimeout());
    List<UpstreamMessage> messages = new ArrayList<>();
    long bytes = 0;
    for (List<UpstreamMessage> some = take(exchange, start);
        !some.isEmpty();
        some = take(exchange, start)) {
      messages.addAll(some);
      bytes += some.stream().mapToLong(message -> message.payload().length).sum();
      if (bytes > 2L * settings.maxMessageBytes()) {
        throw new UpstreamException.Broken("too much before the response to initialize", null);
      }
    }
    return handshake(messages, child.session());
  }

  private List<UpstreamMessage> take(Exchange exchange, long start) {
    Duration left = settings.firstByteTimeout().minusNanos(System.nanoTime() - start);
    try {
      return exchange.queue().take(left.isPositive() ? left : Duration.ofNanos(1));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new UpstreamException.Broken("the waiting thread was interrupted", e);
    }
  }

  /** Reads what came up to the response, which is the last. */
  private static Handshake handshake(List<UpstreamMessage> messages, String session) {
    byte[] last = messages.getLast().payload();
    if (!(Envelopes.read(last) instanceof Body.Single(Message.Response response))) {
      throw new UpstreamException.Broken("no response to initialize", null);
    }
    List<UpstreamMessage> before = messages.subList(0, messages.size() - 1);
    if (response.error()) {
      return new Handshake(last, null, before);
    }
    String version =
        InitializeResult.read(response)
            .map(InitializeResult::protocolVersion)
            .orElseThrow(
                () -> new UpstreamException.Broken("an initialize result without a version", null));
    return new Handshake(last, new UpstreamLink(session, version), before);
  }

  @Override
  public UpstreamSession attach(UpstreamLink link) {
    ChildProcess child = link.session() == null ? null : sessions.get(link.session());
    return child == null ? new GoneSession() : new StdioSession(child);
  }

  /**
   * {@inheritDoc}
   *
   * <p>Ends all processes, and waits for their ends: when this program is gone, nobody could.
   */
  @Override
  public void close() {
    closed = true;
    List<ChildProcess> left = List.copyOf(running);
    left.forEach(child -> child.stop(new UpstreamException.Broken("the gateway ends", null)));
    // Each step of each process takes no longer than this, and they all end at the same time.
    Duration most = settings.stopGrace().multipliedBy(4).plusSeconds(1);
    try {
      for (ChildProcess child : left) {
        boolean _ = child.awaitEnd(most);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** How many processes there are, those that are being ended included. */
  int processes() {
    return settings.maxProcesses() - places.availablePermits();
  }
}
