package dev.holdfast.upstream.stdio;

import dev.holdfast.upstream.channel.Channel;
import dev.holdfast.upstream.channel.ChannelSettings;
import dev.holdfast.upstream.channel.ChannelUpstream;
import java.util.function.Consumer;

/**
 * A server that speaks over stdin and stdout. Each session is a process of its own.
 *
 * <p>A process gets SIGTERM or SIGKILL only if it does not end when its stdin is closed. So when
 * this program is killed itself, a server that keeps to the specification ends all the same.
 */
public final class StdioUpstream extends ChannelUpstream {

  private final StdioUpstreamSettings settings;

  /** Starts nothing yet. */
  public StdioUpstream(StdioUpstreamSettings settings) {
    super(common(settings));
    this.settings = settings;
  }

  private static ChannelSettings common(StdioUpstreamSettings settings) {
    return new ChannelSettings(
        settings.name(),
        settings.maxProcesses(),
        settings.firstByteTimeout(),
        settings.idleTimeout(),
        settings.maxMessageBytes(),
        settings.respawn(),
        // Each step of each process takes no longer than this, and they all end at the same time.
        settings.stopGrace().multipliedBy(4).plusSeconds(1));
  }

  @Override
  protected Channel start(String session, Consumer<Channel> whenGone) {
    return ChildProcess.start(settings, session, whenGone);
  }

  /** How many processes there are, those that are being ended included. */
  int processes() {
    return channels();
  }
}
