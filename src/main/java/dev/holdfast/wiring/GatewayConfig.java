package dev.holdfast.wiring;

import dev.holdfast.session.Session;
import io.quarkus.runtime.configuration.MemorySize;
import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.hibernate.validator.constraints.time.DurationMax;
import org.hibernate.validator.constraints.time.DurationMin;

/** What the gateway is put together from. */
@ConfigMapping(prefix = "holdfast")
public interface GatewayConfig {

  /** Where sessions and events are kept; {@code redis} is reached by {@code quarkus.redis.*}. */
  @WithDefault("memory")
  Store store();

  /** The store in the memory of this process. */
  Memory memory();

  /** The store in Redis. */
  Redis redis();

  /** How often expired events and sessions are looked for. 100 ms to one day. */
  @WithDefault("5m")
  @DurationMin(millis = 100)
  @DurationMax(days = 1)
  Duration cleanupInterval();

  /** The upstream at {@code /mcp}; without a URL or command, the tools inside this process. */
  Server upstream();

  /** Further upstreams, each at {@code /servers/<name>/mcp}; {@code default} is no name for one. */
  Map<String, Server> upstreams();

  /** All upstreams by name, that at {@code /mcp} among them. */
  default Map<String, Server> everyUpstream() {
    Map<String, Server> all = new HashMap<>(upstreams());
    all.put(Session.DEFAULT_UPSTREAM, upstream());
    return all;
  }

  /** The kinds of store. */
  enum Store {
    /** In this process: streams survive their connections, but not the process. */
    MEMORY,
    /** In Redis: any replica continues what another began. */
    REDIS
  }

  /** Bounds of the store in memory. */
  interface Memory {
    /** The most bytes that all events together may take; the oldest are purged. 1 kB to 1 TB. */
    @WithDefault("10M")
    @WithConverter(StoreSize.class)
    MemorySize maxBytes();
  }

  /** How Redis is used. */
  interface Redis {
    /** What every key begins with. */
    @WithDefault("holdfast:")
    String prefix();

    /** How long Redis may owe an answer in silence before it counts as away. 10 ms to a minute. */
    @WithDefault("1s")
    @DurationMin(millis = 10)
    @DurationMax(minutes = 1)
    Duration timeout();
  }

  /** How a server is spoken to. */
  enum Transport {
    /** A command over stdio; a URL as is found out: Streamable HTTP, or else HTTP+SSE. */
    AUTO,
    /** Streamable HTTP, of 2025-03-26 and later. */
    STREAMABLE_HTTP,
    /** HTTP+SSE, of 2024-11-05. */
    SSE,
    /** A process whose stdin and stdout it is. */
    STDIO
  }

  /** An MCP server behind the gateway. */
  interface Server {
    /** Its MCP endpoint, {@code http} or {@code https}. */
    Optional<URI> url();

    /**
     * What it speaks. {@code auto} finds out at a URL whenever a session is opened: it tries
     * Streamable HTTP and, when that is refused with a 4xx, the older HTTP+SSE.
     */
    @WithDefault("auto")
    Transport transport();

    /**
     * Headers sent with every request to it, such as its credentials. A dot in a name stands for a
     * dash, since the environment has neither: {@code HOLDFAST_UPSTREAM_HEADERS_X_API_KEY} is
     * {@code x.api.key} when it arrives here.
     */
    Map<String, String> headers();

    /**
     * The program that is the server, and its arguments, in one text that is split as a shell does;
     * see {@link dev.holdfast.upstream.stdio.CommandLine}. Each session is a process of its own.
     * Excludes a URL.
     */
    Optional<String> command();

    /**
     * Variables that the program gets besides the few that it inherits, such as its credentials.
     * Their names are put in capitals, with {@code _} for every other character, since the
     * environment has no other: {@code HOLDFAST_UPSTREAM_ENVIRONMENT_API_KEY} is {@code api.key}
     * when it arrives here.
     */
    Map<String, String> environment();

    /** The directory where the program runs; that of the gateway if there is none. */
    Optional<Path> directory();

    /** The most processes of the program on this replica; more are refused with 503. */
    @WithDefault("100")
    @Min(1)
    @Max(10_000)
    int maxProcesses();

    /**
     * How long a process may take to end, after its stdin was closed and again after SIGTERM. 10 ms
     * to a minute.
     */
    @WithDefault("2s")
    @DurationMin(millis = 10)
    @DurationMax(minutes = 1)
    Duration stopGrace();

    /**
     * Whether a session whose process was lost, with its replica or alone, goes on with a new
     * process, which is told what the client said to initialize it, and knows nothing else. Over
     * HTTP+SSE the connection takes the place of the process.
     */
    @WithDefault("false")
    boolean respawn();

    /** The most sessions of it on all replicas; more are refused with 429. None: as of all. */
    @Min(1)
    @Max(10_000_000)
    OptionalInt maxSessions();

    /**
     * The most requests for it that this replica works on at once, until the head of the answer is
     * sent; more are refused with 503. None: as many as of all, or half as many where there are
     * several upstreams, so that one that is stuck leaves room for the others.
     */
    @Min(1)
    @Max(1_000_000)
    OptionalInt maxRequests();

    /**
     * The most connections to it from this replica that requests use at a time, and as many again
     * for the streams on which it speaks unasked, a session over HTTP+SSE being one; more are
     * refused with 503. 1 to 65536.
     */
    @WithDefault("65536")
    @Min(1)
    @Max(65_536)
    int maxConnections();

    /** How long a connection to it may take. */
    @WithDefault("5s")
    @DurationMin(millis = 10)
    @DurationMax(minutes = 5)
    Duration connectTimeout();

    /** How long it may take until it begins to answer. */
    @WithDefault("5m")
    @DurationMin(millis = 10)
    @DurationMax(days = 1)
    Duration firstByteTimeout();

    /** How long the stream of a running call may be silent; {@code 0s} for ever. */
    @WithDefault("5m")
    @DurationMin
    @DurationMax(days = 1)
    Duration idleTimeout();
  }
}
