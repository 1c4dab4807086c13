package dev.holdfast.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.holdfast.call.Endpoint;
import dev.holdfast.era.south.EraUpstream;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.InitializeRequest;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.JsonRpcMessages;
import dev.holdfast.protocol.Message;
import dev.holdfast.text.TlsProblem;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Opens a session at an upstream, asks what it offers, and closes the session again. */
record UpstreamCheck(String name, Upstream upstream) {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int METHOD_NOT_FOUND = JsonRpcErrorCode.METHOD_NOT_FOUND.code();

  private static final Duration LIMIT = Duration.ofMinutes(1);
  private static final int REPLAY_SECONDS = 4;

  private static final String LIST_TOOLS =
      """
      {"jsonrpc":"2.0","id":2,"method":"tools/list"}\
      """;

  CheckResult run() {
    return run(LIMIT);
  }

  /** Checks no longer than the limit: a program may print forever and never answer. */
  CheckResult run(Duration limit) {
    CheckResult late =
        CheckResult.wrong(
            "upstream " + name,
            "not done within " + limit.toSeconds() + " s",
            "start the server by hand, and look at what it prints or answers");
    return CompletableFuture.supplyAsync(this::check, Thread::startVirtualThread)
        .completeOnTimeout(late, limit.toMillis(), TimeUnit.MILLISECONDS)
        .join();
  }

  private CheckResult check() {
    String check = "upstream " + name;
    String key =
        name.equals(Endpoint.DEFAULT_UPSTREAM) ? "holdfast.upstream" : "holdfast.upstreams." + name;
    try {
      Handshake handshake = upstream.initialize(initialize());
      JsonNode response = read(handshake.response());
      UpstreamLink link = handshake.link();
      if (link == null) {
        return refused(check, key, response.path("error"));
      }
      UpstreamSession session = upstream.attach(link);
      try {
        return offer(check, link, session, response.path("result"));
      } finally {
        session.end();
      }
    } catch (UpstreamException.NoToken needsClient) {
      return CheckResult.fine(check, "not asked: it needs the token of a client");
    } catch (UpstreamException.Refused refusal) {
      return refusal.error() == null
          ? CheckResult.wrong(check, Output.message(refusal), statusFix(key, refusal.status()))
          : refused(check, key, read(refusal.error()).path("error"));
    } catch (UpstreamException failure) {
      return CheckResult.wrong(
          check,
          Output.message(failure),
          TlsProblem.of(failure)
              .map(problem -> tlsFix(key, problem))
              .orElse("check " + key + " and whether the server runs"));
    }
  }

  private CheckResult offer(
      String check, UpstreamLink link, UpstreamSession session, JsonNode initialized) {
    List<String> ids = new ArrayList<>();
    String transport = upstream.placement(link).transport();
    boolean translated = EraUpstream.translates(link);
    String found =
        "%s over %s: %s%s"
            .formatted(
                translated
                    ? "keeps no sessions (MCP 2026-07-28), Holdfast translates for clients with one,"
                    : "opens sessions with MCP " + link.protocolVersion(),
                transport,
                server(initialized),
                tools(session, initialized, ids));
    if (translated
        || !transport.equals("streamable-http")
        || !initialized.path("capabilities").has("tools")) {
      return CheckResult.fine(check, found);
    }
    if (ids.isEmpty()) {
      return CheckResult.fine(check, found + ", no event ids: calls cannot be resumed");
    }
    return replays(session, ids.getFirst())
        ? CheckResult.fine(check, found + ", event ids, replays: calls can be resumed")
        : CheckResult.doubtful(
            check,
            found + ", event ids, but no replay: calls cannot be resumed",
            "give the server an event store, or know that a broken connection ends its calls");
  }

  /** The request with which the check opens a session. */
  static Message.Request initialize() {
    return InitializeRequest.of("holdfast-doctor", CommandLineSyntax.version());
  }

  private static Body body(String json) {
    return Envelopes.read(json.getBytes(UTF_8));
  }

  private static JsonNode read(byte[] message) {
    try {
      return JSON.readTree(message);
    } catch (IOException invalid) {
      throw new UpstreamException.Broken("it sent no JSON", invalid);
    }
  }

  /** A server of revision 2026-07-28 or later names its versions in the error's data. */
  private static CheckResult refused(String check, String key, JsonNode error) {
    List<String> versions = new ArrayList<>();
    error.path("data").path("supported").forEach(version -> versions.add(version.asText()));
    return versions.isEmpty()
        ? CheckResult.wrong(
            check,
            "the server refuses initialize: " + error.path("message").asText(),
            error.path("code").asInt() == METHOD_NOT_FOUND
                ? newEra(key)
                : "check " + key + " and the log of the server")
        : CheckResult.wrong(
            check, "the server speaks " + String.join(", ", versions) + " only", newEra(key));
  }

  private static String newEra(String key) {
    return "set " + key + ".era to auto: servers of revision 2026-07-28 have no initialize";
  }

  private static String tlsFix(String key, TlsProblem problem) {
    String name = "quarkus.tls.<name>, which " + key + ".tls names";
    return switch (problem) {
      case WRONG_HOST ->
          "let the URL of " + key + " name a host of the certificate, or renew the certificate";
      case EXPIRED, NOT_YET_VALID ->
          "renew the certificate of the server, or set the clock of this machine";
      case UNKNOWN_AUTHORITY ->
          "set trust-store.pem.certs of " + name + ", to the authority of the server";
      case CERTIFICATE_REFUSED, HANDSHAKE_REFUSED ->
          "set key-store.pem.0.cert and key-store.pem.0.key of " + name;
      case NO_COMMON_VERSION -> "set protocols of " + name + ", such as TLSv1.3,TLSv1.2";
    };
  }

  private static String statusFix(String key, int status) {
    return switch (status) {
      case 401, 403 -> "set " + key + ".headers.authorization to credentials that the server takes";
      case 404, 405 -> "check the path of " + key + ".url: it is often /mcp or /sse";
      default -> "check " + key + " and the log of the server";
    };
  }

  private static String server(JsonNode result) {
    JsonNode server = result.path("serverInfo");
    return server.path("name").asText("no name") + " " + server.path("version").asText();
  }

  /** Returns whether the server sends something again after its first event. */
  private static boolean replays(UpstreamSession session, String id) {
    try (MessageSource resumed = session.resume(id)) {
      Executor later = CompletableFuture.delayedExecutor(REPLAY_SECONDS, TimeUnit.SECONDS);
      later.execute(resumed::close);
      return !resumed.take().isEmpty() || resumed.firstEventId() != null;
    } catch (UpstreamException notResumed) {
      return false;
    }
  }

  private static String tools(UpstreamSession session, JsonNode initialized, List<String> ids) {
    if (!initialized.path("capabilities").has("tools")) {
      return ", no tools";
    }
    session.send(JsonRpcMessages.INITIALIZED);
    try (MessageSource answer = session.request(body(LIST_TOOLS)).source()) {
      for (List<UpstreamMessage> taken = answer.take(); !taken.isEmpty(); taken = answer.take()) {
        for (UpstreamMessage message : taken) {
          JsonNode result = read(message.payload()).path("result");
          if (result.has("tools")) {
            Stream.ofNullable(answer.firstEventId()).forEach(ids::add);
            String more = result.has("nextCursor") ? " or more" : "";
            return ", " + result.path("tools").size() + more + " tools";
          }
        }
      }
    }
    return ", no list of tools";
  }
}
