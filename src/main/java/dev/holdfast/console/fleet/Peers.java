package dev.holdfast.console.fleet;

import dev.holdfast.lock.LruMap;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.ClientCapabilities;
import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.InitializeRequest;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.ProtocolVersion;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamObserver;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Servers and clients as this replica has met them when it opened sessions. In memory; the clients
 * that opened a session last are kept. Thread-safe.
 */
public final class Peers {

  private static final String NEW = ProtocolVersion.V2026_07_28.wire();
  private static final int MAX_CLIENTS = 200;

  /** Characters of a name that a peer gives itself. */
  private static final int MAX_NAME = 100;

  private final Predicate<UpstreamLink> isTranslated;
  private final Map<String, Server> servers = new ConcurrentHashMap<>();

  /** By name and version. */
  private final Map<String, Client> clients = LruMap.create(MAX_CLIENTS);

  /**
   * Creates the records.
   *
   * @param isTranslated tells links to servers without sessions, for clients with one
   */
  public Peers(Predicate<UpstreamLink> isTranslated) {
    this.isTranslated = isTranslated;
  }

  private static final class Server {
    final AtomicLong sessions = new AtomicLong();
    final AtomicLong translated = new AtomicLong();
    final AtomicLong reopened = new AtomicLong();
    final AtomicLong resumed = new AtomicLong();

    volatile String revision = "";
    volatile String transport = "";
    volatile String about = "";

    JsonObject json() {
      return new JsonObject()
          .put("revision", revision)
          .put("transport", transport)
          .put("about", about)
          .put("sessions", sessions.get())
          .put("translated", translated.get())
          .put("reopened", reopened.get())
          .put("resumed", resumed.get());
    }
  }

  /**
   * A client, as it has introduced itself last.
   *
   * @param revision the revision that it asks for
   * @param can what it has declared, in a word each
   */
  private record Client(String revision, List<String> can, long sessions, long translated) {

    JsonObject json(String name) {
      return new JsonObject()
          .put("client", name)
          .put("revision", revision)
          .put("can", new JsonArray(can))
          .put("sessions", sessions)
          .put("translated", translated);
    }
  }

  /**
   * Observes a server.
   *
   * @param transport names the transport of an opened session
   */
  public UpstreamObserver of(String upstream, Function<UpstreamLink, String> transport) {
    Server server = servers.computeIfAbsent(upstream, _ -> new Server());
    return (kind, _, body) ->
        switch (kind) {
          case INITIALIZE -> new Opening(server, transport, body);
          case REOPEN -> {
            long _ = server.reopened.incrementAndGet();
            yield UpstreamObserver.Operation.NONE;
          }
          case RESUME -> {
            long _ = server.resumed.incrementAndGet();
            yield UpstreamObserver.Operation.NONE;
          }
          case REQUEST, SEND, LISTEN, END -> UpstreamObserver.Operation.NONE;
        };
  }

  /** A session is opened. */
  private final class Opening implements UpstreamObserver.Operation {

    private final Server server;
    private final Function<UpstreamLink, String> transport;
    private final @Nullable Body request;

    Opening(Server server, Function<UpstreamLink, String> transport, @Nullable Body request) {
      this.server = server;
      this.transport = transport;
      this.request = request;
    }

    @Override
    public void opened(Handshake handshake) {
      UpstreamLink link = handshake.link();
      if (link == null) {
        return;
      }
      boolean isNewServer = link.isStateless() || isTranslated.test(link);
      server.revision = isNewServer ? NEW : cut(link.protocolVersion());
      server.transport = transport.apply(link);
      server.about = about(handshake.response());
      long _ = server.sessions.incrementAndGet();
      if (request instanceof Body.Single(Message.Request initialize)) {
        boolean translates = opened(initialize, isNewServer);
        if (translates) {
          long _ = server.translated.incrementAndGet();
        }
      }
    }

    /** Notes the client. Returns true if it and the server are of different eras. */
    private boolean opened(Message.Request initialize, boolean isNewServer) {
      try {
        InitializeRequest read = InitializeRequest.read(initialize);
        boolean translates = isNewServer != read.protocolVersion().equals(NEW);
        Client _ =
            clients.merge(
                cut(read.client()),
                new Client(cut(read.protocolVersion()), can(initialize), 1, translates ? 1 : 0),
                (before, now) ->
                    new Client(
                        now.revision(),
                        now.can(),
                        before.sessions() + 1,
                        before.translated() + now.translated()));
        return translates;
      } catch (EnvelopeException invalid) {
        return false;
      }
    }
  }

  private static List<String> can(Message.Request initialize) {
    ClientCapabilities declared =
        new ClientCapabilities(
            Objects.requireNonNullElse(
                JsonEdit.raw(initialize.bytes(), "params", "capabilities"), "{}"));
    List<String> can = new ArrayList<>();
    for (String name : List.of("elicitation", "sampling", "roots")) {
      if (declared.has(name)) {
        can.add(name);
      }
    }
    if (declared.hasTasks() || declared.has("tasks")) {
      can.add("tasks");
    }
    return can;
  }

  private static String about(byte[] response) {
    String name = JsonEdit.text(JsonEdit.raw(response, "result", "serverInfo", "name"));
    String version = JsonEdit.text(JsonEdit.raw(response, "result", "serverInfo", "version"));
    return cut((name == null ? "" : name) + (version == null ? "" : " " + version));
  }

  private static String cut(String text) {
    return text.substring(0, Math.min(MAX_NAME, text.length()));
  }

  JsonObject server(String upstream) {
    Server server = servers.get(upstream);
    return server == null ? new Server().json() : server.json();
  }

  /** The clients, as parts of a report. */
  public JsonArray clients() {
    JsonArray all = new JsonArray();
    synchronized (clients) {
      clients.forEach((name, client) -> all.add(client.json(name)));
    }
    return all;
  }
}
