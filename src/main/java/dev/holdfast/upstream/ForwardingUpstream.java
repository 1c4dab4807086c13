package dev.holdfast.upstream;

import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Opener;
import java.util.Set;

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
    return initialize(initialize, Opener.UNKNOWN);
  }

  @Override
  public Handshake initialize(Message.Request initialize, Opener opener) {
    return upstream.initialize(initialize, opener);
  }

  @Override
  public Set<String> forwardedHeaders() {
    return upstream.forwardedHeaders();
  }

  @Override
  public Set<String> namedScopes() {
    return upstream.namedScopes();
  }

  @Override
  public boolean needsClientToken() {
    return upstream.needsClientToken();
  }

  @Override
  public UpstreamSession attach(UpstreamLink link) {
    return upstream.attach(link);
  }

  @Override
  public String transport(UpstreamLink link) {
    return upstream.transport(link);
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
  public boolean isScarce(UpstreamLink link) {
    return upstream.isScarce(link);
  }

  @Override
  public boolean isOpenHere(UpstreamLink link) {
    return upstream.isOpenHere(link);
  }

  @Override
  public boolean opensSessions() {
    return upstream.opensSessions();
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
  public ProcessCount processes() {
    return upstream.processes();
  }

  @Override
  public void close() {
    upstream.close();
  }
}
