package dev.holdfast.wiring.config;

import dev.holdfast.agent.AgentSettings;
import dev.holdfast.call.Endpoint;
import dev.holdfast.clients.KnownClient;
import dev.holdfast.config.Range;
import dev.holdfast.config.SizeConverter;
import dev.holdfast.era.north.EraConfig;
import dev.holdfast.era.south.Era;
import io.quarkus.runtime.configuration.MemorySize;
import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Configuration of the store and the upstreams. {@code docs/configuration.md} explains all keys.
 */
@ConfigMapping(prefix = "holdfast")
public interface GatewayConfig {

  /** The configuration file, see {@link dev.holdfast.config.ConfigFile}. */
  Optional<Path> config();

  /** The store of sessions and events. */
  @WithDefault("memory")
  Store store();

  Memory memory();

  Redis redis();

  /** Time between two sweeps for expired events and sessions. */
  @WithDefault("5m")
  @Range(min = "100ms", max = "1d")
  Duration cleanupInterval();

  /** The upstream at {@code /mcp}. Without a URL or command, it is the local tools. */
  Server upstream();

  /** Further upstreams by name, each at {@code /servers/<name>/mcp}. */
  Map<String, Server> upstreams();

  /** Several servers at {@code /mcp}. */
  Merge merge();

  /** Selections of servers and tools by name, each at {@code /views/<name>/mcp}. */
  Map<String, ViewConfig> views();

  /** Abilities and limits of further clients, by a name for logs. */
  Map<String, KnownClient.Settings> clients();

  /** Agents as sessions, at {@code /servers/agent/mcp}. */
  Agent agent();

  /** Condition for the demo tools. */
  @WithDefault("local")
  DemoTools demoTools();

  /** Condition for the console on the management port. */
  @WithDefault("local")
  Console console();

  /** Returns all upstreams by name, including {@link Endpoint#DEFAULT_UPSTREAM}. */
  default Map<String, Server> allUpstreams() {
    Map<String, Server> all = new HashMap<>(upstreams());
    all.put(Endpoint.DEFAULT_UPSTREAM, upstream());
    return all;
  }

  /** True to write an audit log. */
  @WithDefault("false")
  boolean audit();

  /** True to write lines about all calls of tools to the audit log. */
  @WithDefault("false")
  boolean auditCalls();

  /** Conditions for the demo tools at {@code /mcp}, unless that has an upstream. */
  enum DemoTools {
    /** While only programs on this machine can connect. */
    LOCAL,
    /** Always, also when other machines can connect. */
    ALWAYS,
    NEVER
  }

  /** Conditions for the console. */
  enum Console {
    OFF,
    /** While the management port is on a loopback address and requests need no key. */
    LOCAL
  }

  /** The stores. */
  enum Store {
    /** In this process: streams survive lost connections, but not a restart. */
    MEMORY,
    /** In Redis, as {@code quarkus.redis.*} describes it: replicas share all streams. */
    REDIS
  }

  Tools tools();

  /** Tools of this program. */
  interface Tools {
    /** Threads that all calls that compute share; one fewer than there are processors if absent. */
    @Range(min = "2", max = "256")
    OptionalInt computeThreads();
  }

  Eras eras();

  /** Servers and clients without sessions. */
  interface Eras {
    /** Limit on the size of the results of servers that are kept for all clients; else none is. */
    Optional<@WithConverter(SizeConverter.class) MemorySize> cacheBytes();
  }

  Log log();

  /** Limits on the size of events in either store. The oldest events are removed first. */
  interface Log {
    /** Limit on the size of the events of one stream. The newest event stays, however large. */
    @WithDefault("512M")
    @WithConverter(SizeConverter.class)
    MemorySize streamBytes();

    /** Limit on the size of the events of one session. */
    @WithDefault("1G")
    @WithConverter(SizeConverter.class)
    MemorySize sessionBytes();

    /** Limit on the size of the events of all sessions of one client. */
    Optional<@WithConverter(SizeConverter.class) MemorySize> clientBytes();
  }

  Tapes record();

  /** Tapes of sessions; {@code docs/recorder.md} describes them. */
  interface Tapes {
    /** Directory of the tapes of all upstreams; by default nothing is recorded. */
    Optional<Path> dir();

    /** Limit on the size of one file. A tape continues in a further file. */
    @WithDefault("16M")
    @WithConverter(SizeConverter.class)
    MemorySize fileBytes();

    /** Limit on the size of all tapes of a directory. The oldest files are deleted first. */
    @WithDefault("1G")
    @WithConverter(SizeConverter.class)
    MemorySize maxBytes();
  }

  /** The memory store. */
  interface Memory {
    /** Limit on the size of all events together. */
    Optional<@WithConverter(SizeConverter.class) MemorySize> maxBytes();
  }

  /** The Redis store. */
  interface Redis {
    /** Prefix of every key. */
    @WithDefault("holdfast:")
    String prefix();

    /** Limit on the size of all events together. The largest session loses its oldest first. */
    @WithDefault("2G")
    @WithConverter(SizeConverter.class)
    MemorySize maxBytes();

    /** Time without a reply after which Redis counts as unavailable. */
    @WithDefault("1s")
    @Range(min = "10ms", max = "1m")
    Duration timeout();
  }

  /** The view at {@code /mcp}. */
  interface Merge extends ViewConfig {
    /** True to merge all servers. By default, if only demo tools are at {@code /mcp} else. */
    Optional<Boolean> enabled();
  }

  /** A program that may run as a child process. */
  interface Program {
    /** The program and its arguments, quoted as in a shell. */
    Optional<String> command();

    /** Environment variables of the program; {@code API_KEY} may arrive as {@code api.key}. */
    Map<String, String> environment();

    /** Working directory of the program; by default that of the gateway. */
    Optional<Path> directory();

    /** Scope that the key of a client needs to use the program or server. */
    Optional<String> scope();
  }

  /** An agent CLI that writes JSON lines. */
  interface Agent extends Program {
    /** Format of the lines that the program writes. */
    @WithDefault("generic")
    AgentSettings.Kind format();

    /** JSON pointers into the lines of a generic agent, by name. */
    Map<String, String> mapping();

    /** Arguments to continue a session of a generic agent; {@code {session}} is the agent's id. */
    Optional<String> resumeArguments();

    /** Limit on the agents that work at once on this replica. One client may have half of them. */
    @WithDefault("50")
    @Range(min = "1", max = "10000")
    int maxProcesses();

    /** Limit on the agent sessions of one MCP session. */
    @WithDefault("10")
    @Range(min = "1", max = "100")
    int maxSessions();
  }

  /** The transports of upstreams. */
  enum Transport {
    /** Stdio for a command. For a URL, each session tries Streamable HTTP, then HTTP+SSE. */
    AUTO,
    /** Streamable HTTP, of 2025-03-26 and later. */
    STREAMABLE_HTTP,
    /** HTTP+SSE, of 2024-11-05. */
    SSE,
    /** A child process that speaks MCP over stdin and stdout. */
    STDIO;

    boolean isHttp() {
      return this == STREAMABLE_HTTP || this == SSE;
    }
  }

  /** Credentials at a server. */
  enum Authorization {
    /** None, or those in the configured headers. */
    NONE,
    /** Access tokens that the gateway gets with its own credentials (RFC 6749, section 4.4). */
    CLIENT_CREDENTIALS,
    /** The access token of the client. The server checks it, too. */
    PASS,
    /** Access tokens that the gateway gets in exchange for those of clients (RFC 8693). */
    EXCHANGE;

    /** Returns whether they follow from the tokens of clients. */
    boolean needsClientToken() {
      return this == PASS || this == EXCHANGE;
    }
  }

  /** Source of the access tokens of the gateway. */
  interface Token {
    /** The token endpoint of the authorization server. */
    Optional<URI> endpoint();

    /** The gateway's id at the authorization server. */
    Optional<String> clientId();

    /** The secret that proves the id. */
    Optional<String> clientSecret();

    /** The scopes to ask for, separated by spaces. */
    Optional<String> scope();

    /** The server that the tokens are for (RFC 8707). */
    Optional<String> resource();

    /** The same by the name that the authorization server has for it (RFC 8693, section 2.1). */
    Optional<String> audience();

    /** Name of the TLS configuration of connections to the endpoint, as that of an upstream. */
    Optional<String> tls();
  }

  /** An MCP server behind the gateway, at a URL or as a program. */
  interface Server extends Program {
    /** The server's MCP endpoint, {@code http} or {@code https}. */
    Optional<URI> url();

    /** The server's transport. */
    @WithDefault("auto")
    Transport transport();

    /** The revisions of the server. Empty: auto for a URL, old for a command. */
    Optional<Era> era();

    /**
     * Time after which a call of this server that still runs is answered with a handle; by default
     * as at all. One second to one hour.
     */
    @Range(min = "1s", max = "1h")
    Optional<Duration> holdAfter();

    /** Service for clients without sessions at this server; by default as at all. */
    Optional<EraConfig.NewClients> newClients();

    /** Headers of every request to the server. A dot in a name stands for a dash. */
    Map<String, String> headers();

    /** Names of headers of clients that go to the server with the requests that they cause. */
    Optional<List<String>> forwardHeaders();

    /** The gateway's credentials at the server, in the header {@code Authorization}. */
    @WithDefault("none")
    Authorization authorization();

    /** Source of the tokens for the server. */
    Token token();

    /** Name of the TLS configuration of connections to the server. */
    Optional<String> tls();

    /** Limit on processes of the program on this replica. */
    @WithDefault("100")
    @Range(min = "1", max = "10000")
    int maxProcesses();

    /** Percentage of {@link #maxProcesses} that the sessions of one client may have, rounded up. */
    @WithDefault("50")
    @Range(min = "1", max = "100")
    int processShare();

    /** Time for a process to exit after its stdin is closed, and again after SIGTERM. */
    @WithDefault("2s")
    @Range(min = "10ms", max = "1m")
    Duration stopGrace();

    /** True to continue a session whose process, connection or server's memory of it was lost. */
    @WithDefault("false")
    boolean respawn();

    /** Time between pings in sessions with a server over Streamable HTTP; by default none. */
    @Range(min = "1s", max = "1h")
    Optional<Duration> pingInterval();

    /** Directory of the tapes of this upstream; by default that of all upstreams. */
    Optional<Path> recordDir();

    /** Patterns of the tools that clients may see and call; by default all. */
    Optional<List<String>> allowTools();

    /** Patterns of tools that are hidden even if they are allowed. */
    Optional<List<String>> denyTools();

    /** Patterns of the tools that only clients with a scope may see and call, by scope. */
    Map<String, List<String>> toolScopes();

    /** JSON pointers to values of results that are replaced before they are logged. */
    Optional<List<String>> redact();

    /** Limit on calls of each tool in each session, per minute, on this replica. */
    @Range(min = "1", max = "1000000")
    OptionalInt callsPerMinute();

    /** Limit on the size of a result. */
    @WithConverter(SizeConverter.class)
    Optional<MemorySize> resultBytes();

    /** Limit on the server's sessions on all replicas; by default only the common limit applies. */
    @Range(min = "1", max = "10000000")
    OptionalInt maxSessions();

    /** Limit on requests to the server that this replica handles at once. */
    @Range(min = "1", max = "1000000")
    OptionalInt maxRequests();

    /** Limit on connections from this replica for requests, and again on those for streams. */
    @WithDefault("65536")
    @Range(min = "1", max = "65536")
    int maxConnections();

    /** Time limit for connecting. */
    @WithDefault("5s")
    @Range(min = "10ms", max = "5m")
    Duration connectTimeout();

    /** Time limit until the server starts to respond to a request. */
    @WithDefault("1h")
    @Range(min = "10ms", max = "1d")
    Duration firstByteTimeout();

    /** Time limit for silence on the stream of a running call; {@code 0s} is no limit. */
    @WithDefault("1h")
    @Range(min = "0s", max = "1d")
    Duration idleTimeout();
  }
}
