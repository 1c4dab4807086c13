package dev.holdfast.upstream;

import dev.holdfast.call.Caller;
import dev.holdfast.protocol.Message;
import java.util.Map;

/** An upstream that passes everything on to another one. Subclasses change what they need to. */
public abstract class ForwardingUpstream implements Upstream {

  /** The target of all calls. */
  protected final Upstream upstream;

  /** Passes everything on to that upstream. */
  protected ForwardingUpstream(Upstream upstream) {
    this.upstream = upstream;
  }

  @Override
  public Handshake initialize(Message.Request initialize, Caller opener) {
    return upstream.initialize(initialize, opener);
  }

  @Override
  public Profile profile() {
    return upstream.profile();
  }

  @Override
  public UpstreamSession attach(UpstreamLink link) {
    return upstream.attach(link);
  }

  @Override
  public Placement placement(UpstreamLink link) {
    return upstream.placement(link);
  }

  @Override
  public boolean mayHaveOpened(UpstreamLink link) {
    return upstream.mayHaveOpened(link);
  }

  @Override
  public Map<String, UpstreamLink> members(UpstreamLink link) {
    return upstream.members(link);
  }

  @Override
  public void reopen(UpstreamLink link, Message.Request initialize, boolean initialized) {
    upstream.reopen(link, initialize, initialized);
  }

  @Override
  public ToolName tool(Message.Request call, Caller caller) {
    return upstream.tool(call, caller);
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
