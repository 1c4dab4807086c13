package dev.holdfast.upstream.local;

import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.InitializeRequest;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.ProtocolVersion;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamSession;
import java.util.List;
import java.util.UUID;

/**
 * An MCP server inside this process, made of {@link Tool}s.
 *
 * <p>A session is only a name, so any replica can attach to it. What the session did elsewhere is
 * absent here: a log level that was set on another replica does not count, and what is sent to a
 * call that runs on another replica must be brought there.
 *
 * <p>A call that was cancelled gets no response: its stream ends without one. A call whose stream
 * is closed before its end is cancelled, too.
 */
public final class LocalUpstream implements Upstream {

  private final Toolset tools;
  private final String name;
  private final String version;
  private final SessionStates states = new SessionStates();
  private final ToolThreads threads = new ToolThreads();

  /**
   * Makes a server of these tools. Starts no thread before the first call.
   *
   * @param tools the tools; asked for once, here
   * @param name the name by which the server introduces itself
   * @param version its version
   * @throws IllegalArgumentException if two tools have the same name, a name is malformed, or an
   *     input schema is not the text of a JSON object
   */
  public LocalUpstream(Iterable<? extends Tool> tools, String name, String version) {
    this.tools = new Toolset(tools);
    this.name = name;
    this.version = version;
  }

  /**
   * {@inheritDoc}
   *
   * <p>Agrees to any version that the gateway speaks and otherwise offers the newest.
   */
  @Override
  public Handshake initialize(Message.Request initialize) {
    if (states.closed()) {
      throw new UpstreamException.Unreachable(null);
    }
    try {
      String wanted = InitializeRequest.read(initialize).protocolVersion();
      String agreed = ProtocolVersion.parse(wanted).orElse(newest()).wire();
      UpstreamLink link = new UpstreamLink(UUID.randomUUID().toString(), agreed);
      return new Handshake(introduction(initialize, agreed), link, List.of());
    } catch (EnvelopeException e) {
      byte[] error = JsonRpcErrors.error(initialize.id(), e.code().code(), e.clientMessage());
      return new Handshake(error, null, List.of());
    }
  }

  private static ProtocolVersion newest() {
    return List.of(ProtocolVersion.values()).getLast();
  }

  private byte[] introduction(Message.Request initialize, String agreedVersion) {
    return Messages.result(
        initialize.id(),
        json -> {
          json.writeStringField("protocolVersion", agreedVersion);
          json.writeObjectFieldStart("capabilities");
          json.writeObjectFieldStart("logging");
          json.writeEndObject();
          json.writeObjectFieldStart("tools");
          json.writeEndObject();
          json.writeEndObject();
          json.writeObjectFieldStart("serverInfo");
          json.writeStringField("name", name);
          json.writeStringField("version", version);
          json.writeEndObject();
        });
  }

  /**
   * {@inheritDoc}
   *
   * @throws IllegalArgumentException if the link has no session, and so is not from a server like
   *     this
   */
  @Override
  public UpstreamSession attach(UpstreamLink link) {
    String session = link.session();
    if (session == null) {
      throw new IllegalArgumentException("A session of a local server has a name");
    }
    return new LocalSession(session, tools, states, threads);
  }

  /** {@inheritDoc} It does: a tool is a thread. */
  @Override
  public boolean isResident() {
    return true;
  }

  /**
   * {@inheritDoc}
   *
   * <p>Interrupts the tools, does not wait for them, and lets the readers of their answers see
   * {@link UpstreamException.Broken}.
   */
  @Override
  public void close() {
    states.close().forEach(RunningCall::breakOff);
    threads.close();
  }
}
