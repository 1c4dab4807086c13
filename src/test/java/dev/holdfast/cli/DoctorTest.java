package dev.holdfast.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.budget.ByteBudget;
import dev.holdfast.call.Caller;
import dev.holdfast.call.Endpoint;
import dev.holdfast.clients.KnownClients;
import dev.holdfast.config.OwnCertificate;
import dev.holdfast.demo.Demo;
import dev.holdfast.merge.MergeFixture;
import dev.holdfast.merge.MergeSettings;
import dev.holdfast.merge.MergedUpstream;
import dev.holdfast.protocol.Message;
import dev.holdfast.session.SessionLimits;
import dev.holdfast.session.memory.MemorySessionStore;
import dev.holdfast.testing.Certificates;
import dev.holdfast.testing.ScriptedServer;
import dev.holdfast.upstream.Handshake;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamSession;
import dev.holdfast.upstream.channel.Channel;
import dev.holdfast.upstream.http.UpstreamFixture;
import dev.holdfast.upstream.local.server.LocalUpstream;
import dev.holdfast.upstream.local.server.LogLevelStore;
import dev.holdfast.upstream.stdio.StdioUpstream;
import dev.holdfast.upstream.stdio.StdioUpstreamSettings;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Checks output and exit code of the doctor without Redis. */
class DoctorTest {

  private final LocalUpstream upstream =
      new LocalUpstream(
          new LocalUpstream.ServerFeatures(List.of(), List.of(), List.of()),
          new LogLevelStore.InMemory(),
          "test",
          "1");
  private static final String INITIALIZED =
      """
      {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},\
      "serverInfo":{"name":"scripted","version":"1"}}}\
      """;

  @RegisterExtension private final UpstreamFixture servers = new UpstreamFixture();

  private final ByteArrayOutputStream stdout = new ByteArrayOutputStream();

  private Upstream checked = upstream;
  private Map<String, MergedUpstream> merged = Map.of();
  private final List<OwnCertificate> certificates = new ArrayList<>();

  @AfterEach
  void close() {
    upstream.close();
  }

  private ExitCode run(int maxConnections, boolean json) {
    PrintStream printed = new PrintStream(stdout, true, UTF_8);
    CommandContext context =
        new CommandContext(
            Optional.empty(),
            Map.of(Endpoint.DEFAULT_UPSTREAM, checked),
            merged,
            () -> certificates,
            new KnownClients(Map.of()),
            maxConnections,
            1000);
    return new DoctorCommand(context, InstantSource.system(), new Output(printed, printed, json))
        .run();
  }

  private String printed() {
    return stdout.toString(UTF_8);
  }

  @Test
  void shouldTellTheNamesOfAnEndpointForSeveralServers() {
    MergeSettings settings =
        MergeFixture.settings(MergeSettings.Naming.PRIORITY, Duration.ofSeconds(5));
    try (LocalUpstream one = demo();
        LocalUpstream two = demo()) {
      merged = merged(settings, Map.of("one", one, "two", two));

      assertThat(run(1, false)).isEqualTo(ExitCode.SUCCESS);
    }
    assertThat(printed()).contains("endpoint /mcp", "of one: ", "clients do not get: tool ");
  }

  private static LocalUpstream demo() {
    return new LocalUpstream(
        new LocalUpstream.ServerFeatures(Demo.TOOLS, List.of(), List.of()),
        new LogLevelStore.InMemory(),
        "test",
        "1");
  }

  private static Map<String, MergedUpstream> merged(
      MergeSettings settings, Map<String, Upstream> servers) {
    return Map.of(
        "default",
        new MergedUpstream(
            settings,
            () -> servers,
            MergeFixture.OPEN,
            new MemorySessionStore(
                Duration.ofMinutes(1),
                () -> new SessionLimits(1, 1, Map.of()),
                InstantSource.system()),
            new ByteBudget(1000),
            "1"));
  }

  @Test
  void shouldNameTheKeyOfATrustStore(@TempDir Path directory) {
    Certificates authority = new Certificates(directory, "ours");
    ScriptedServer server =
        servers.closing(
            ScriptedServer.withTls(authority.context(authority.issue("server")), (_, _) -> {}));
    checked = servers.upstream(UpstreamFixture.settings(server.url()));

    assertThat(run(1, false)).isEqualTo(ExitCode.PROBLEM);
    assertThat(printed())
        .contains("its certificate comes from an unknown authority")
        .contains("set trust-store.pem.certs of quarkus.tls.<name>, which holdfast.upstream.tls");
  }

  @Test
  void shouldTellWhenCertificatesEnd() {
    Instant now = Instant.now();
    certificates.add(new OwnCertificate("in", now.plus(Duration.ofDays(31)), null));
    certificates.add(new OwnCertificate("soon", now.plus(Duration.ofDays(29)), null));

    assertThat(run(1, false)).isEqualTo(ExitCode.SUCCESS);
    assertThat(printed())
        .contains(
            "fine     certificate in: valid until ", "doubtful certificate soon: valid until ")
        .contains("renew the files of quarkus.tls.soon.key-store");

    certificates.add(new OwnCertificate("old", now.minus(Duration.ofDays(1)), null));
    certificates.add(new OwnCertificate("mixed", now.plus(Duration.ofDays(99)), "its key differs"));
    assertThat(run(1, false)).isEqualTo(ExitCode.PROBLEM);
    assertThat(printed())
        .contains(
            "wrong    certificate old: it has expired", "wrong    certificate mixed: its key");
  }

  @Test
  void shouldAcceptEnoughOpenFiles() {
    assertThat(run(1, false)).isEqualTo(ExitCode.SUCCESS);

    assertThat(printed()).contains("fine     open files: ", "and 2 may be needed");
  }

  /** A client needs one open file, and its upstream another. */
  @Test
  void shouldReportTooFewOpenFiles() {
    assertThat(run(Integer.MAX_VALUE, false)).isEqualTo(ExitCode.SUCCESS);

    assertThat(printed())
        .contains("doubtful open files: ", "and 4294967294 may be needed")
        .contains("→ raise ulimit -n, or lower holdfast.limits.connections");
  }

  @Test
  void shouldPrintJson() {
    assertThat(run(1, true)).isEqualTo(ExitCode.SUCCESS);

    assertThat(printed().lines())
        .hasSize(3 + KnownClients.BUILT_IN.size())
        .allMatch(line -> line.startsWith("{\"check\":\"") && line.contains("\"verdict\":\""));
    assertThat(printed())
        .contains("{\"check\":\"store\",\"verdict\":\"doubtful\"")
        .contains("{\"check\":\"upstream default\",\"verdict\":\"fine\"")
        .contains("opens sessions with MCP 2025-11-25 over local: test 1, 0 tools");
  }

  @Test
  void shouldListKnownClients() {
    assertThat(run(1, false)).isEqualTo(ExitCode.SUCCESS);

    assertThat(printed())
        .contains(
            "fine     client java-sdk: retry=false priming=true resumes=0 time-limit=20s"
                + " user-agent=Java-http-client/* client-info=Java SDK MCP Client/* (https://");
  }

  @Test
  void shouldReportAnUpstreamThatOpensNoSession() {
    upstream.close();

    assertThat(run(1, false)).isEqualTo(ExitCode.PROBLEM);

    assertThat(printed()).contains("wrong    upstream default: ", "check holdfast.upstream ");
  }

  /** Before, the doctor waited for a wrong program for up to five minutes. */
  @Test
  void shouldNotWaitForAProgramThatPrintsForever() {
    try (StdioUpstream endless = program("yes")) {
      CheckResult result = new UpstreamCheck("files", endless).run(Duration.ofSeconds(1));

      assertThat(result.verdict()).isEqualTo(CheckResult.Verdict.WRONG);
      assertThat(result.found()).isEqualTo("not done within 1 s");
    }
  }

  @Test
  void shouldSayWhatAServerOffers() {
    try (LocalUpstream demo =
        new LocalUpstream(
            new LocalUpstream.ServerFeatures(Demo.TOOLS, List.of(), List.of()),
            new LogLevelStore.InMemory(),
            "demo",
            "2")) {
      CheckResult result = new UpstreamCheck("files", demo).run();

      assertThat(result.verdict()).isEqualTo(CheckResult.Verdict.FINE);
      assertThat(result.found())
          .isEqualTo(
              "opens sessions with MCP 2025-11-25 over local: demo 2, "
                  + Demo.TOOLS.size()
                  + " tools");
    }
  }

  /** The answer of a server has an id or none, and the same after an id or nothing. */
  @ParameterizedTest
  @CsvSource({
    "false, false, no event ids: calls cannot be resumed",
    "true, true, 'event ids, replays: calls can be resumed'",
    "true, false, 'event ids, but no replay: calls cannot be resumed'"
  })
  void shouldSayWhetherCallsCanBeResumed(boolean ids, boolean replays, String found) {
    String list =
        (ids ? "id: p\ndata:\n\nid: q\n" : "")
            + "data: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"tools\":[]}}\n\n";
    ScriptedServer server =
        servers.server(
            (_, wire) -> wire.answer(200, "application/json", INITIALIZED, "Mcp-Session-Id: s"),
            (_, wire) -> wire.answer(202, "", ""),
            (_, wire) -> wire.beginEvents().chunk("retry: 1\n" + list).endChunks(),
            (request, wire) -> {
              if (!request.method().equals("GET")) {
                wire.answer(200, "", "");
              } else if (replays && "p".equals(request.header("last-event-id"))) {
                wire.beginEvents().chunk(list).endChunks();
              } else {
                wire.beginEvents().endChunks();
              }
            });

    CheckResult result =
        new UpstreamCheck("files", servers.upstream(UpstreamFixture.settings(server.url()))).run();

    assertThat(result.found()).endsWith("scripted 1, 0 tools, " + found);
    assertThat(result.verdict())
        .isEqualTo(ids && !replays ? CheckResult.Verdict.DOUBTFUL : CheckResult.Verdict.FINE);
  }

  @Test
  void shouldNameTheVersionsOfAServerThatIsTooNew() {
    String error =
        """
        {"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"Unsupported protocol version",\
        "data":{"supported":["2026-07-28"],"requested":"2025-11-25"}}}\
        """;

    byte[] answer = error.getBytes(UTF_8);
    List<Upstream> servers =
        List.of(
            answering(() -> new Handshake(answer, null, List.of())),
            answering(() -> {
              throw new UpstreamException.Refused(400, answer, null);
            }));
    assertThat(servers)
        .map(server -> new UpstreamCheck("files", server).run())
        .allSatisfy(result -> {
          assertThat(result.found()).isEqualTo("the server speaks 2026-07-28 only");
          assertThat(result.fix()).startsWith("set holdfast.upstreams.files.era to auto");
        });
  }

  @Test
  void shouldSuspectAServerWithoutInitializeToBeTooNew() {
    String error =
        """
        {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}\
        """;

    CheckResult result =
        new UpstreamCheck(
                "files", answering(() -> new Handshake(error.getBytes(UTF_8), null, List.of())))
            .run();

    assertThat(result.found()).isEqualTo("the server refuses initialize: Method not found");
    assertThat(result.fix()).endsWith("have no initialize");
  }

  @Test
  void shouldNotSuspectAServerThatNeedsTheTokenOfAClient() {
    CheckResult result =
        new UpstreamCheck(
                "files",
                answering(() -> {
                  throw new UpstreamException.NoToken();
                }))
            .run();

    assertThat(result.verdict()).isEqualTo(CheckResult.Verdict.FINE);
    assertThat(result.found()).isEqualTo("not asked: it needs the token of a client");
  }

  @ParameterizedTest
  @CsvSource({
    "401, set holdfast.upstreams.files.headers.authorization to credentials",
    "404, check the path of holdfast.upstreams.files.url",
    "500, check holdfast.upstreams.files and the log of the server"
  })
  void shouldSuggestWhatMendsAStatus(int status, String fix) {
    CheckResult result =
        new UpstreamCheck(
                "files",
                answering(() -> {
                  throw new UpstreamException.Refused(status, null, null);
                }))
            .run();

    assertThat(result.found()).isEqualTo("the upstream refused with status " + status);
    assertThat(result.fix()).startsWith(fix);
  }

  @Test
  void shouldSayWhyAProcessEnded() {
    try (StdioUpstream process =
        program("sh", "-c", "echo starting >&2; echo the key is missing >&2; echo >&2; exit 3")) {
      CheckResult result = new UpstreamCheck("files", process).run();

      assertThat(result.found()).endsWith(": exit code 3, last line on stderr: the key is missing");
    }
  }

  private static StdioUpstream program(String... command) {
    StdioUpstreamSettings settings =
        new StdioUpstreamSettings(
            List.of(command),
            Map.of(),
            null,
            Duration.ofSeconds(5),
            new Channel.Settings(
                "files", 1, 1, Duration.ofSeconds(20), Duration.ofSeconds(20), 1000, false));
    return new StdioUpstream(settings, new ByteBudget(1 << 26));
  }

  private static Upstream answering(Supplier<Handshake> answer) {
    return new Upstream() {
      @Override
      public Handshake initialize(Message.Request initialize, Caller opener) {
        return answer.get();
      }

      @Override
      public UpstreamSession attach(UpstreamLink link) {
        throw new IllegalStateException("no session was opened");
      }

      @Override
      public void close() {}
    };
  }
}
