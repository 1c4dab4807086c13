package dev.holdfast.upstream.local.server;

import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.budget.ByteBudget;
import dev.holdfast.call.Caller;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.InitializeRequest;
import dev.holdfast.protocol.JsonRpcErrors;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.ProtocolVersion;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.Placement;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamSession;
import dev.holdfast.upstream.local.Prompt;
import dev.holdfast.upstream.local.Resource;
import dev.holdfast.upstream.local.ResourceTemplate;
import dev.holdfast.upstream.local.Tool;
import java.util.List;

/**
 * An MCP server inside this process.
 *
 * <p>A session is only a name, so any replica can attach to it. Messages to a running call must
 * reach the replica that runs it.
 *
 * <p>The stream of a cancelled call ends without a response. Closing the stream of a call before
 * its end cancels the call.
 */
public final class LocalUpstream implements Upstream {

  /** A call is a thread of this process. */
  private static final Placement PLACEMENT = new Placement.InProcess("local", false, true);

  private final ToolRegistry tools;
  private final ResourceRegistry resources;
  private final PromptRegistry prompts;
  private final LogLevelStore levels;
  private final ToolCalls calls;
  private final String name;
  private final String version;

  /** Creates a server whose messages may have any size, with a budget of its own for them. */
  public LocalUpstream(ServerFeatures features, LogLevelStore levels, String name, String version) {
    this(
        features,
        levels,
        name,
        version,
        Integer.MAX_VALUE,
        ByteBudget.ofHeap(8, Long.MAX_VALUE),
        0);
  }

  /**
   * Creates a server. Starts no thread before the first call.
   *
   * @param levels log levels of the sessions, on all replicas
   * @param name the server's name for clients
   * @param maxMessageBytes size of the largest message
   * @param held budget of messages that wait for their readers, and of calls that run
   * @param computeThreads threads of all {@link Tool#cpuBound()} calls, at least two; zero for one
   *     fewer than there are processors
   * @throws IllegalArgumentException if two tools, resources or prompts have the same name, a name
   *     is malformed, or a record has no schema
   */
  public LocalUpstream(
      ServerFeatures features,
      LogLevelStore levels,
      String name,
      String version,
      int maxMessageBytes,
      ByteBudget held,
      int computeThreads) {
    this.tools = new ToolRegistry(features.tools());
    this.resources = new ResourceRegistry(features.resources(), features.templates());
    this.prompts = new PromptRegistry(features.prompts());
    this.levels = levels;
    this.calls = new ToolCalls(levels, maxMessageBytes, held, computeThreads);
    this.name = name;
    this.version = version;
  }

  /** Accepts every version that the gateway knows. For any other version, offers the newest one. */
  @Override
  public Handshake initialize(Message.Request initialize, Caller opener) {
    calls.requireOpen();
    try {
      String wanted = InitializeRequest.read(initialize).protocolVersion();
      String agreed =
          ProtocolVersion.parseWithSessions(wanted)
              .orElse(ProtocolVersion.NEWEST_WITH_SESSIONS)
              .wire();
      LocalSessionId session =
          LocalSessionId.create(
              wanted,
              Json.read(initialize.bytes())
                  .map(json -> json.path("params").path("capabilities"))
                  .orElse(MissingNode.getInstance()));
      byte[] response = ServerMessages.result(initialize.id(), initializeResult(agreed));
      return new Handshake(response, new UpstreamLink(session.name(), agreed), List.of());
    } catch (EnvelopeException e) {
      byte[] error = JsonRpcErrors.error(initialize.id(), e.code(), e.clientMessage());
      return new Handshake(error, null, List.of());
    }
  }

  private ObjectNode initializeResult(String agreedVersion) {
    ObjectNode result = Json.object().put("protocolVersion", agreedVersion);
    ObjectNode capabilities = result.putObject("capabilities");
    capabilities.putObject("logging");
    capabilities.putObject("tools");
    if (!resources.isEmpty()) {
      capabilities.putObject("resources");
    }
    if (!prompts.isEmpty()) {
      capabilities.putObject("prompts");
    }
    if (!prompts.isEmpty() || !resources.isEmpty()) {
      capabilities.putObject("completions");
    }
    result.putObject("serverInfo").put("name", name).put("version", version);
    return result;
  }

  /**
   * Throws {@link IllegalArgumentException} for a link without a session id: another server created
   * it.
   */
  @Override
  public UpstreamSession attach(UpstreamLink link) {
    if (link.session() == null) {
      throw new IllegalArgumentException("A session of a local server has a name");
    }
    LocalSessionId session = LocalSessionId.parse(link.session());
    return new LocalSession(session, tools, resources, prompts, levels, calls);
  }

  /** May get links of upstreams that were configured earlier, or that other replicas configure. */
  @Override
  public boolean mayHaveOpened(UpstreamLink link) {
    return link.session() != null && LocalSessionId.isName(link.session());
  }

  @Override
  public Placement placement(UpstreamLink link) {
    return PLACEMENT;
  }

  /**
   * Interrupts the tools and does not wait for them. Their streams fail with {@link
   * UpstreamException.Broken}.
   */
  @Override
  public void close() {
    calls.close();
  }

  /** The tools, resources and prompts that a local server offers. */
  public record ServerFeatures(
      List<Tool<?>> tools,
      List<Resource> resources,
      List<ResourceTemplate> templates,
      List<Prompt<?>> prompts) {

    /** Offers no templates. */
    public ServerFeatures(List<Tool<?>> tools, List<Resource> resources, List<Prompt<?>> prompts) {
      this(tools, resources, List.of(), prompts);
    }

    /** Copies the lists. */
    public ServerFeatures {
      tools = List.copyOf(tools);
      resources = List.copyOf(resources);
      templates = List.copyOf(templates);
      prompts = List.copyOf(prompts);
    }
  }
}
