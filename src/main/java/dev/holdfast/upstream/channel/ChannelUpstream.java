package dev.holdfast.upstream.channel;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamSession;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * A server each of whose sessions is a {@link Channel} of its own, from {@code initialize} to the
 * end of the session, on the replica that has opened it; here, a session of another one, or whose
 * channel has ended, is gone.
 */
public abstract class ChannelUpstream implements Upstream {

  private static final Logger LOG = System.getLogger(ChannelUpstream.class.getName());

  private static final Body INITIALIZED =
      Envelopes.read(
          "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}".getBytes(UTF_8));

  private final ChannelSettings settings;
  private final Semaphore places;

  /** All channels, also those in their handshake and those that are being ended. */
  private final Set<Channel> running = ConcurrentHashMap.newKeySet();

  /** Those that are a session, by its name. */
  private final Map<String, Channel> sessions = new ConcurrentHashMap<>();

  private volatile boolean closed;

  /** Opens nothing yet. */
  protected ChannelUpstream(ChannelSettings settings) {
    this.settings = settings;
    this.places = new Semaphore(settings.maxSessions());
  }

  /**
   * Makes a channel over which nothing was said yet.
   *
   * @param session what the session is to be called
   * @param whenGone told once when the channel has ended, with all that belongs to it
   * @throws UpstreamException if there is none; then nothing is told
   */
  protected abstract Channel start(String session, Consumer<Channel> whenGone);

  /** A new name for a session, which is no other's. */
  protected String newName() {
    return UUID.randomUUID().toString();
  }

  /**
   * {@inheritDoc}
   *
   * <p>Makes a channel, and ends it again unless a session was opened over it within the time until
   * which a server must begin to answer.
   *
   * @throws UpstreamException.Busy if there are as many as there may be
   */
  @Override
  public Handshake initialize(Message.Request initialize) {
    return initialize(initialize, this::start);
  }

  /**
   * Opens a session as {@link #initialize(Message.Request)} does.
   *
   * @param starter makes the channel
   */
  protected final Handshake initialize(Message.Request initialize, Starter starter) {
    return open(newName(), initialize, starter, handshake -> handshake.link() != null);
  }

  /** Makes channels. */
  @FunctionalInterface
  protected interface Starter {

    /** As {@link ChannelUpstream#start(String, Consumer)}. */
    Channel start(String session, Consumer<Channel> whenGone);
  }

  @Override
  public boolean keepsSessions(UpstreamLink link) {
    return true;
  }

  @Override
  public boolean reopens() {
    return settings.respawn();
  }

  /**
   * {@inheritDoc}
   *
   * <p>Makes another channel. The server's answer is checked and goes nowhere.
   */
  @Override
  public void reopen(UpstreamLink link, Message.Request initialize, boolean initialized) {
    String name = link.session();
    if (name == null || !settings.respawn()) {
      throw new UpstreamException.SessionGone();
    }
    Handshake handshake =
        open(name, initialize, this::start, another -> link.equals(another.link()));
    if (!link.equals(handshake.link())) {
      throw new UpstreamException.Broken("it opens the session in another way", null);
    }
    if (initialized) {
      attach(link).send(INITIALIZED);
    }
    LOG.log(Level.INFO, "upstream={0} has opened a lost session anew", settings.name());
  }

  /**
   * Makes a channel for a session.
   *
   * @param wanted tells whether the server's answer opens the session
   */
  private Handshake open(
      String name, Message.Request initialize, Starter starter, Predicate<Handshake> wanted) {
    Channel channel = place(name, starter);
    boolean opened = false;
    try {
      Handshake handshake = new ChannelHandshake(channel, settings).of(initialize);
      if (wanted.test(handshake)) {
        channel.opened();
        sessions.put(name, channel);
        opened = channel.isAlive();
      }
      return handshake;
    } finally {
      if (!opened) {
        sessions.remove(name, channel);
        channel.stop(new UpstreamException.Broken("no session was opened", null));
      }
    }
  }

  private Channel place(String name, Starter starter) {
    if (closed) {
      throw new UpstreamException.Unreachable(null);
    }
    if (!places.tryAcquire()) {
      throw new UpstreamException.Busy();
    }
    Channel channel;
    boolean started = false;
    try {
      channel = starter.start(name, this::gone);
      started = true;
    } finally {
      if (!started) {
        places.release();
      }
    }
    running.add(channel);
    if (closed) {
      channel.stop(new UpstreamException.Unreachable(null));
    }
    if (channel.isGone()) {
      running.remove(channel);
    }
    return channel;
  }

  private void gone(Channel channel) {
    running.remove(channel);
    // Only this one: the session may have another by now.
    sessions.remove(channel.session(), channel);
    places.release();
  }

  @Override
  public UpstreamSession attach(UpstreamLink link) {
    Channel channel = link.session() == null ? null : sessions.get(link.session());
    return channel == null ? new ClosedSession() : new ChannelSession(channel, settings);
  }

  /**
   * {@inheritDoc}
   *
   * <p>Ends all channels, and waits for their ends: when this program is gone, nobody could.
   */
  @Override
  public void close() {
    closed = true;
    List<Channel> left = List.copyOf(running);
    left.forEach(channel -> channel.stop(new UpstreamException.Broken("the gateway ends", null)));
    try {
      for (Channel channel : left) {
        boolean _ = channel.awaitEnd(settings.endsWithin());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** How many channels there are, those that are being ended included. */
  protected final int channels() {
    return settings.maxSessions() - places.availablePermits();
  }
}
