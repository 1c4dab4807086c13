package dev.holdfast.upstream;

import dev.holdfast.protocol.Message;

/** An upstream that passes everything on to another one. Subclasses change what they need to. */
public abstract class ForwardingUpstream implements Upstream {

  /** Where everything goes. */
  protected final Upstream upstream;

  /** Passes everything on to that upstream. */
  protected ForwardingUpstream(Upstream upstream) {
    this.upstream = upstream;
  }

  @Override
  public final Handshake initialize(Message.Request initialize) {
    return initialize(initialize, "");
  }

  @Override
  public Handshake initialize(Message.Request initialize, String opener) {
    return upstream.initialize(initialize, opener);
  }

  @Override
  public UpstreamSession attach(UpstreamLink link) {
    return upstream.attach(link);
  }

  @Override
  public boolean mayHaveOpened(UpstreamLink link) {
    return upstream.mayHaveOpened(link);
  }

  @Override
  public boolean runsInProcess() {
    return upstream.runsInProcess();
  }

  @Override
  public boolean isPinned(UpstreamLink link) {
    return upstream.isPinned(link);
  }

  @Override
  public boolean canReopen() {
    return upstream.canReopen();
  }

  @Override
  public void reopen(UpstreamLink link, Message.Request initialize, boolean initialized) {
    upstream.reopen(link, initialize, initialized);
  }

  @Override
  public void close() {
    upstream.close();
  }
}
