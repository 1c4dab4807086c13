package dev.holdfast.upstream.stdio;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.upstream.Profile;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.channel.Channel;
import dev.holdfast.upstream.channel.ChannelUpstream;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;

/**
 * A server that speaks over stdin and stdout. Each session has its own process.
 *
 * <p>A process gets a signal only if it ignores the end of its stdin. A server that follows the
 * specification therefore also ends when the gateway is killed.
 */
public final class StdioUpstream extends ChannelUpstream {

  private final StdioUpstreamSettings settings;

  private final ByteBudget held;

  /**
   * Starts no process yet.
   *
   * @param held budget of unfinished and waiting messages, which servers may share
   */
  public StdioUpstream(StdioUpstreamSettings settings, ByteBudget held) {
    // A process ends in at most four steps of this length; all end at the same time.
    super(settings.channel(), settings.stopGrace().multipliedBy(4).plusSeconds(1));
    this.settings = settings;
    this.held = held;
  }

  @Override
  public ProcessCount processes() {
    return new ProcessCount(channels(), settings.channel().maxSessions());
  }

  @Override
  protected Channel start(UpstreamLink link, Consumer<Channel> whenGone) {
    String session = Objects.requireNonNull(link.session());
    ProcessChannel channel = new ProcessChannel(settings, held, session, whenGone);
    channel.read(ChildProcess::startThread);
    return channel;
  }

  @Override
  public Profile profile() {
    return Profile.of(Set.of(), false, settings.channel().respawn());
  }

  @Override
  protected String transport() {
    return "stdio";
  }
}
