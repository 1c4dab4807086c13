package dev.holdfast.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testing.Frame;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.Gateway;
import dev.holdfast.testing.McpClient;
import dev.holdfast.testing.RawConnection;
import dev.holdfast.testing.ScriptedRequest;
import dev.holdfast.testing.ScriptedServer;
import dev.holdfast.testing.ToolRequest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Limits on processes, on the age of event ids, and on tapes, as clients see them. */
@Timeout(120)
class ServerLimitsIT {

  private static final String INITIALIZED =
      """
      {"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"sh","version":"1"}}\
      """;

  /** In the answer to a message that an agent works on. */
  private static final String STARTED = "\"structuredContent\":{\"session\"";

  /** Answers every request. */
  private static final String PROGRAM =
      """
      while IFS= read -r line; do
        id=${line#*'"id":'}
        id=${id%%[,\\}]*}
        case $line in
          *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":INITIALIZED}\\n' "$id" ;;
          *'"tools/call"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}\\n' "$id" ;;
        esac
      done
      """
          .replace("INITIALIZED", INITIALIZED);

  @TempDir private Path directory;

  /** A client with an address of its own, and so with a share of its own. */
  private record Client(URI endpoint, HttpClient http, HttpResponse<String> opened) {

    static Client at(URI endpoint, int address) throws Exception {
      HttpClient http =
          HttpClient.newBuilder()
              .version(HttpClient.Version.HTTP_1_1)
              .localAddress(InetAddress.getByName("127.0.0." + address))
              .build();
      String body = McpClient.initialize(McpClient.NEWEST, "test");
      return new Client(
          endpoint, http, http.send(post(endpoint, body).build(), BodyHandlers.ofString()));
    }

    private static HttpRequest.Builder post(URI endpoint, String body) {
      return HttpRequest.newBuilder(endpoint)
          .header("Accept", "application/json, text/event-stream")
          .header("Content-Type", "application/json")
          .header("MCP-Protocol-Version", McpClient.NEWEST)
          .POST(HttpRequest.BodyPublishers.ofString(body));
    }

    String call(String tool, String arguments) throws Exception {
      String session = opened.headers().firstValue("Mcp-Session-Id").orElseThrow();
      HttpRequest request =
          post(endpoint, ToolRequest.of(1, tool, arguments))
              .header("Mcp-Session-Id", session)
              .build();
      return http.send(request, BodyHandlers.ofString()).body();
    }

    void assertRefused() {
      assertThat(opened.statusCode()).as(opened.body()).isEqualTo(503);
      assertThat(opened.headers().firstValue("Retry-After")).isPresent();
    }
  }

  /** {@code upstream.max-processes} and {@code upstream.process-share}. */
  @Test
  void shouldRefuseSessionsBeyondTheProcesses() throws Exception {
    Path program = Files.writeString(directory.resolve("server.sh"), PROGRAM);
    Map<String, String> settings =
        Map.of(
            "holdfast.upstream.command", "sh " + program,
            "holdfast.upstream.max-processes", "4",
            "holdfast.upstream.process-share", "50");
    try (Gateway gateway = Gateway.start(settings)) {
      Client first = Client.at(gateway.url(), 1);
      Client second = Client.at(gateway.url(), 1);
      Client beyondShare = Client.at(gateway.url(), 1);
      Client third = Client.at(gateway.url(), 2);
      Client fourth = Client.at(gateway.url(), 2);
      Client beyondAll = Client.at(gateway.url(), 3);

      beyondShare.assertRefused();
      beyondAll.assertRefused();
      for (Client connected : List.of(first, second, third, fourth)) {
        assertThat(connected.call("any", "{}")).contains("\"result\"");
      }
    }
  }

  /** {@code agent.max-processes}: half of them are for one client. */
  @Test
  void shouldRefuseMessagesBeyondTheAgents() throws Exception {
    Map<String, String> settings =
        Map.of(
            "holdfast.agent.command", "sh -s --",
            "holdfast.agent.format", "droid",
            "holdfast.agent.max-processes", "2");
    String message = "{\"message\":\"while [ ! -e " + directory + "/end ]; do sleep 0.1; done\"}";
    try (Gateway gateway = Gateway.start(settings)) {
      URI agents = gateway.url("/servers/agent/mcp");
      Client first = Client.at(agents, 1);
      String working = first.call("session_message", message);
      String beyondShare = Client.at(agents, 1).call("session_message", message);
      String other = Client.at(agents, 2).call("session_message", message);
      String beyondAll = Client.at(agents, 3).call("session_message", message);

      assertThat(List.of(working, other)).allMatch(answer -> answer.contains(STARTED));
      assertThat(beyondShare)
          .contains("\"isError\":true", "1 of your agents are working", "Try again later");
      assertThat(beyondAll).contains("\"isError\":true", "All 2 agents are working");
      Files.createFile(directory.resolve("end"));
      String next = "{\"message\":\"true\"}";
      await().until(() -> first.call("session_message", next).contains(STARTED));
    }
  }

  /** {@code replay.window}: only a client that comes back with an old id notices. */
  @Test
  void shouldRefuseOldIdsOfTheStandaloneStream() throws Exception {
    BlockingQueue<RawConnection> listening = new LinkedBlockingQueue<>();
    try (ScriptedServer server =
            ScriptedServer.playing((request, wire) -> answer(request, wire, listening));
        Gateway gateway =
            Gateway.start(
                Map.of(
                    "holdfast.upstream.url",
                    server.url().toString(),
                    "holdfast.replay.window",
                    "1s"))) {
      McpClient client = McpClient.at(gateway.url()).ready();
      FrameStream stream = client.listen();
      RawConnection wire = listening.take();
      say(wire, 1);
      String old = next(stream, 1).id();
      say(wire, 2);
      String newest = next(stream, 2).id();
      long written = Long.parseLong(newest.replaceFirst(".*_(\\d+)-\\d+$", "$1"));
      await().until(() -> System.currentTimeMillis() > written + 1000);

      // The connected client, and one that has the newest event, get all.
      say(wire, 3);
      String last = next(stream, 3).id();
      stream.close();
      await().until(() -> System.currentTimeMillis() > written + 3000);
      assertThat(client.resumeWhole(old).statusCode()).isEqualTo(410);
      try (FrameStream again = client.resume(last)) {
        assertThat(again.status()).isEqualTo(200);
        say(wire, 4);
        next(again, 4);
      }
    }
  }

  private static void answer(
      ScriptedRequest request, RawConnection wire, BlockingQueue<RawConnection> listening)
      throws IOException {
    if (request.method().equals("GET")) {
      wire.beginEvents();
      listening.add(wire);
      wire.stall();
    } else if (request.body().contains("\"initialize\"")) {
      String body = "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":" + INITIALIZED + "}";
      wire.answer(200, "application/json", body);
    } else {
      wire.answer(202, "", "");
    }
  }

  private static void say(RawConnection wire, int number) throws IOException {
    wire.chunk(
        """
        data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info",\
        "data":%d}}

        """
            .formatted(number));
  }

  private static Frame.Event next(FrameStream stream, int number) {
    Frame.Event event = stream.event();
    assertThat(event.data()).contains("\"data\":" + number);
    return event;
  }

  /** {@code record.max-bytes}: the oldest files go, and clients notice nothing. */
  @Test
  void shouldDeleteTheOldestTapes() throws Exception {
    Path program = Files.writeString(directory.resolve("server.sh"), PROGRAM);
    Path tapes = directory.resolve("tapes");
    Map<String, String> settings =
        Map.of(
            "holdfast.upstream.command",
            "sh " + program,
            "holdfast.record.dir",
            tapes.toString(),
            "holdfast.record.file-bytes",
            "4K",
            "holdfast.record.max-bytes",
            "8K");
    try (Gateway gateway = Gateway.start(settings)) {
      Client client = Client.at(gateway.url(), 1);
      await().until(() -> Files.exists(tapes) && !files(tapes).isEmpty());
      Path first = files(tapes).getFirst();

      for (int n = 0; n < 20; n++) {
        assertThat(client.call("any", "{\"text\":\"" + "x".repeat(1000) + "\"}"))
            .contains("\"result\"");
      }

      await().until(() -> !Files.exists(first));
      await().untilAsserted(() -> assertThat(bytes(files(tapes))).isBetween(1L, 8192L));
      assertThat(client.call("any", "{}")).contains("\"result\"");
    }
  }

  private static List<Path> files(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.sorted().toList();
    }
  }

  private static long bytes(List<Path> files) {
    return files.stream()
        .mapToLong(file -> {
          try {
            return Files.size(file);
          } catch (IOException gone) {
            throw new UncheckedIOException(gone);
          }
        })
        .sum();
  }
}
