package dev.holdfast.upstream.local;

import com.fasterxml.jackson.core.JsonGenerator;
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
import java.io.IOException;
import java.util.List;

/**
 * An MCP server inside this process, made of {@link Tool}s, {@link Resource}s and {@link Prompt}s.
 *
 * <p>A session is only a name, which also says what its client can be asked for, so any replica can
 * attach to it. What is sent to a call that runs on another replica must be brought there.
 *
 * <p>A call that was cancelled gets no response: its stream ends without one. A call whose stream
 * is closed before its end is cancelled, too.
 */
public final class LocalUpstream implements Upstream {

  private final Parts parts;
  private final String name;
  private final String version;

  /** Makes a server, as below, whose sessions are all in this process. */
  public LocalUpstream(LocalFeatures offer, String name, String version) {
    this(offer, new MemoryLogLevels(), name, version);
  }

  /**
   * Makes a server of these tools and whatever else there is. Starts no thread before the first
   * call.
   *
   * @param offer what clients find
   * @param levels what clients choose for their sessions, here and on other replicas
   * @param name the name by which the server introduces itself
   * @param version its version
   * @throws IllegalArgumentException if two of a kind have the same name, a name is malformed, or
   *     no schema can be made of a record
   */
  public LocalUpstream(LocalFeatures offer, LogLevels levels, String name, String version) {
    this.parts = Parts.of(offer, levels);
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
    if (parts.states().closed()) {
      throw new UpstreamException.Unreachable(null);
    }
    try {
      String wanted = InitializeRequest.read(initialize).protocolVersion();
      String agreed = ProtocolVersion.parse(wanted).orElse(newest()).wire();
      UpstreamLink link = new UpstreamLink(open(initialize).session(), agreed);
      return new Handshake(introduction(initialize, agreed), link, List.of());
    } catch (EnvelopeException e) {
      byte[] error = JsonRpcErrors.error(initialize.id(), e.code().code(), e.clientMessage());
      return new Handshake(error, null, List.of());
    }
  }

  private static Caller open(Message.Request initialize) {
    return Caller.open(
        Messages.read(initialize.bytes())
            .map(json -> ClientCapabilities.read(json.path("params").path("capabilities")))
            .orElse(ClientCapabilities.NONE));
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
          capability(json, "logging", true);
          capability(json, "tools", true);
          capability(json, "resources", !parts.resources().isEmpty());
          capability(json, "prompts", !parts.prompts().isEmpty());
          json.writeEndObject();
          json.writeObjectFieldStart("serverInfo");
          json.writeStringField("name", name);
          json.writeStringField("version", version);
          json.writeEndObject();
        });
  }

  private static void capability(JsonGenerator json, String name, boolean there)
      throws IOException {
    if (there) {
      json.writeObjectFieldStart(name);
      json.writeEndObject();
    }
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
    return new LocalSession(Caller.of(session), parts);
  }

  /**
   * {@inheritDoc}
   *
   * <p>This server is what there is where none is configured, so it meets the sessions of those
   * that were, or are so elsewhere.
   */
  @Override
  public boolean mayHaveOpened(UpstreamLink link) {
    return link.session() != null && Caller.isName(link.session());
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
    parts.states().close().forEach(RunningCall::breakOff);
    parts.threads().close();
  }
}
