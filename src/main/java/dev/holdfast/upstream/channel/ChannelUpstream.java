package dev.holdfast.upstream.channel;

import dev.holdfast.budget.Shares;
import dev.holdfast.call.Caller;
import dev.holdfast.protocol.JsonRpcMessages;
import dev.holdfast.protocol.Message;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.Placement;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamSession;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jboss.logging.Logger;

/**
 * A server with one {@link Channel} per session. A channel lives in the replica that opened the
 * session. For other replicas, and after the end of its channel, the session is gone.
 */
public abstract class ChannelUpstream implements Upstream {

  private static final Logger LOG = Logger.getLogger(ChannelUpstream.class);

  private final Channel.Settings settings;
  private final Duration endsWithin;
  private final Semaphore freeChannels;

  /** Channels of each opener. */
  private final Shares<String> byOpener;

  /** All channels, including those in their handshake and those that are ending. */
  private final Set<Channel> channels = ConcurrentHashMap.newKeySet();

  private final Map<String, Channel> bySession = new ConcurrentHashMap<>();

  private volatile boolean closed;

  /**
   * Creates a server without channels.
   *
   * @param endsWithin bound for closing all channels
   */
  protected ChannelUpstream(Channel.Settings settings, Duration endsWithin) {
    this.settings = settings;
    this.endsWithin = endsWithin;
    this.freeChannels = new Semaphore(settings.maxSessions());
    this.byOpener = new Shares<>(settings.maxSessionsPerOpener());
  }

  /**
   * Starts a channel that carries no messages yet. {@code whenGone} is called once, when a started
   * channel and all its resources are gone.
   *
   * @param link the name of the session, and the client; its headers go with every message, if the
   *     channel has headers
   */
  protected abstract Channel start(UpstreamLink link, Consumer<Channel> whenGone);

  /** Returns a new, unique name for a session. */
  protected String newName() {
    return UUID.randomUUID().toString();
  }

  /** Starts a channel. Ends it again if the server does not open the session in time. */
  @Override
  public Handshake initialize(Message.Request initialize, Caller opener) {
    return initialize(initialize, opener, this::start);
  }

  /** Opens a session over a channel of another starter. */
  protected final Handshake initialize(
      Message.Request initialize,
      Caller opener,
      BiFunction<UpstreamLink, Consumer<Channel>, Channel> starter) {
    UpstreamLink opening =
        new UpstreamLink(newName(), "").with(opener.with(opener.headers().ofSession()));
    return open(
        opening, opener.share(), initialize, starter, handshake -> handshake.link() != null);
  }

  @Override
  public Placement placement(UpstreamLink link) {
    boolean open = link.session() != null && bySession.containsKey(link.session());
    return new Placement.Pinned(transport(), true, open);
  }

  /** The transport of all channels, as the configuration names it. */
  protected abstract String transport();

  /** Starts another channel. The server's answer is checked and then dropped. */
  @Override
  public void reopen(UpstreamLink link, Message.Request initialize, boolean initialized) {
    String session = link.session();
    if (session == null || !settings.respawn()) {
      throw new UpstreamException.SessionGone();
    }
    Handshake handshake =
        open(link, "", initialize, this::start, answer -> link.isSameAtServer(answer.link()));
    if (!link.isSameAtServer(handshake.link())) {
      throw new UpstreamException.Broken("it opens the session in another way", null);
    }
    if (initialized) {
      attach(link).send(JsonRpcMessages.INITIALIZED);
    }
    LOG.infof("lost session reopened upstream=%s", settings.name());
  }

  private Handshake open(
      UpstreamLink link,
      String opener,
      Message.Request initialize,
      BiFunction<UpstreamLink, Consumer<Channel>, Channel> starter,
      Predicate<Handshake> accepts) {
    Channel channel = startChannel(link, opener, starter);
    String session = channel.session();
    boolean opened = false;
    try {
      Handshake handshake = new ChannelSession(channel, settings).initialize(initialize);
      if (accepts.test(handshake)) {
        channel.opened();
        bySession.put(session, channel);
        opened = channel.isAlive();
      }
      return handshake;
    } finally {
      if (!opened) {
        bySession.remove(session, channel);
        channel.stop(new UpstreamException.Broken("no session was opened", null));
      }
    }
  }

  private Channel startChannel(
      UpstreamLink link,
      String opener,
      BiFunction<UpstreamLink, Consumer<Channel>, Channel> starter) {
    if (closed) {
      throw new UpstreamException.Unreachable(null);
    }
    if (!hasShare(opener)) {
      throw new UpstreamException.Busy(UpstreamException.Busy.Limit.SESSIONS_OF_OPENER);
    }
    if (!freeChannels.tryAcquire()) {
      byOpener.giveBack(opener, 1);
      throw new UpstreamException.Busy(UpstreamException.Busy.Limit.SESSIONS);
    }
    Channel channel;
    try {
      channel = starter.apply(link, gone -> remove(gone, opener));
    } catch (Throwable failure) {
      free(opener);
      throw failure;
    }
    channels.add(channel);
    if (closed) {
      channel.stop(new UpstreamException.Unreachable(null));
    }
    if (channel.isGone()) {
      channels.remove(channel);
    }
    return channel;
  }

  private void remove(Channel channel, String opener) {
    channels.remove(channel);
    // The session may have another channel by now.
    bySession.remove(channel.session(), channel);
    free(opener);
  }

  /** Lost sessions that are opened again have no opener, and need no share. */
  private boolean hasShare(String opener) {
    return opener.isEmpty() || byOpener.tryTake(opener, 1);
  }

  private void free(String opener) {
    byOpener.giveBack(opener, 1);
    freeChannels.release();
  }

  @Override
  public UpstreamSession attach(UpstreamLink link) {
    Channel channel = link.session() == null ? null : bySession.get(link.session());
    if (channel != null) {
      channel.usedBy(link);
    }
    return new ChannelSession(channel, settings);
  }

  /** Ends all channels and waits for their ends. Nothing can end them after this process. */
  @Override
  public void close() {
    closed = true;
    List<Channel> open = List.copyOf(channels);
    open.forEach(channel -> channel.stop(new UpstreamException.Broken("the gateway ends", null)));
    try {
      for (Channel channel : open) {
        boolean _ = channel.awaitEnd(endsWithin);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns the number of channels, including those that are ending. */
  public final int channels() {
    return settings.maxSessions() - freeChannels.availablePermits();
  }
}
