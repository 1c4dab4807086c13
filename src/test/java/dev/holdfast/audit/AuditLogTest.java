package dev.holdfast.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.holdfast.call.Caller;
import dev.holdfast.call.Principal;
import dev.holdfast.call.SessionId;
import dev.holdfast.protocol.ProtocolVersion;
import dev.holdfast.session.Session;
import dev.holdfast.testing.SampleSession;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class AuditLogTest {

  private static final Instant NOW = Instant.parse("2026-11-23T10:15:30.120Z");
  private static final Principal ALICE = new Principal("key", "alice");
  private static final Principal BOB = new Principal("https://issuer.example", "bob");
  private static final Pattern ROW =
      Pattern.compile("(?m)^\\| `([\\w-]+)` \\| (?:.*\\| )?(.*) \\|$");

  private final Logger category = Logger.getLogger(AuditLog.CATEGORY);
  private final List<String> lines = new CopyOnWriteArrayList<>();
  private final Handler handler =
      new Handler() {
        @Override
        public void publish(LogRecord line) {
          lines.add(line.getMessage());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };
  private final AuditLog audit = AuditLog.on(true, () -> NOW.plusNanos(1));
  private final Session session = session(ALICE, "a \"client\"\n");

  private static Session session(Principal principal, String client) {
    String opener = principal.equals(Principal.ANONYMOUS) ? "192.0.2.7" : principal.recorded();
    return SampleSession.of(
        SessionId.random(),
        "files",
        "secret of the server",
        ProtocolVersion.V2025_11_25,
        client,
        NOW,
        opener,
        principal);
  }

  @BeforeEach
  void listen() {
    category.setLevel(Level.INFO);
    category.addHandler(handler);
  }

  @AfterEach
  void stop() {
    category.removeHandler(handler);
  }

  private static JsonNode json(String line) {
    try {
      return new ObjectMapper().readTree(line);
    } catch (IOException e) {
      throw new AssertionError(line, e);
    }
  }

  private static void write(AuditLog audit, Session session) {
    audit.sessionOpened(session, "192.0.2.7");
    for (Session each : List.of(session, session(Principal.ANONYMOUS, ""))) {
      audit.sessionEnded(each, "expired");
      audit.sessionResumed(each, "its replica was lost");
    }
    for (int i = 0; i < 2; i++) {
      Caller caller = Caller.of(ALICE, Set.of(), null).at("", "192.0.2.7", "");
      audit.sessionRefused(caller, "a client", "files", "there are too many sessions");
      audit.sessionDenied(BOB, session);
      audit.upstreamDenied(BOB, "192.0.2.7", "files", "the scope files is missing");
      audit.credentialRefused("192.0.2.7", "the credential is not valid");
      audit.toolDenied("key alice", "files", session.id().value(), "drop", "the tool is hidden");
      AuditLog.Call call =
          new AuditLog.Call(ALICE, "192.0.2.7", "files", session.id(), "\"" + "7".repeat(99), "");
      audit.operatorActed(AuditLog.Act.CANCEL, ALICE, "192.0.2.7", session.id().value(), "stream");
      audit.callArrived(call, "drop");
      audit.callAnswered(call.on("stream"), AuditLog.Outcome.RESULT);
      audit.callLeft(call.on("stream"), "the client is gone");
      audit.callResumed(new AuditLog.Call(ALICE, "192.0.2.7", "files", session.id(), "", "s"));
    }
  }

  @Test
  void shouldWriteOneLineWithoutSecrets() {
    audit.sessionOpened(session, "192.0.2.7");

    assertThat(lines)
        .containsExactly(
            """
            {"time":"2026-11-23T10:15:30.120Z","event":"session-opened","principal":"key alice",\
            "client":"a \\"client\\"\\n","address":"192.0.2.7","upstream":"files","session":"%s"}\
            """
                .formatted(session.id()));
    assertThat(lines.getFirst()).doesNotContain(session.id().value(), "secret");
  }

  @Test
  void shouldLeaveOutWhatIsNotKnown() {
    audit.sessionEnded(session(Principal.ANONYMOUS, ""), "expired");
    audit.toolDenied(null, "files", null, null, "the call names no tool");

    assertThat(lines.getFirst()).doesNotContain("principal", "client");
    assertThat(lines.getLast())
        .isEqualTo(
            """
            {"time":"2026-11-23T10:15:30.120Z","event":"tool-denied","upstream":"files",\
            "reason":"the call names no tool"}\
            """);
  }

  @Test
  void shouldDescribeEveryEventAndField() throws IOException {
    Map<String, Set<String>> written = new TreeMap<>();
    // A later line has the number of those that were left out before.
    await()
        .until(() -> {
          write(audit, session);
          return lines.stream()
                  .filter(line -> line.contains("not-logged-before"))
                  .map(line -> json(line).path("event").asText())
                  .distinct()
                  .count()
              == 5;
        });
    lines.forEach(line ->
        json(line)
            .fieldNames()
            .forEachRemaining(field ->
                written
                    .computeIfAbsent(json(line).path("event").asText(), _ -> new TreeSet<>())
                    .add(field)));
    String text = Files.readString(Path.of("docs/audit.md"));
    int split = text.indexOf("## Fields");
    Map<String, Set<String>> documented = new TreeMap<>();
    ROW.matcher(text.substring(0, split))
        .results()
        .forEach(row -> documented.put(row.group(1), fields(row.group(2))));
    Set<String> explained =
        ROW.matcher(text.substring(split))
            .results()
            .map(row -> row.group(1))
            .collect(Collectors.toCollection(TreeSet::new));

    assertThat(documented).isEqualTo(written);
    assertThat(explained)
        .isEqualTo(
            written.values().stream()
                .flatMap(Set::stream)
                .collect(Collectors.toCollection(TreeSet::new)));
  }

  private static Set<String> fields(String cell) {
    Set<String> fields = new TreeSet<>(Set.of("time", "event"));
    fields.addAll(Arrays.asList(cell.replace("`", "").split(" ")));
    return fields;
  }

  @Test
  void shouldShortenIdsThatClientsChoose() {
    audit.callArrived(
        new AuditLog.Call(ALICE, "", "files", null, "\"" + "7".repeat(99) + "\"", ""), "drop");

    assertThat(json(lines.getFirst()).path("request").asText()).isEqualTo("\"" + "7".repeat(63));
  }

  @Test
  void shouldWriteNothingOfCallsUnlessAsked() {
    assertThat(AuditLog.on(false, Instant::now).hasCalls()).isFalse();
    assertThat(AuditLog.OFF.hasCalls()).isFalse();
    assertThat(audit.hasCalls()).isTrue();
  }

  @Test
  void shouldBoundWhatStrangersCause() {
    for (int i = 0; i < 1000; i++) {
      audit.credentialRefused("192.0.2.7", "there is no credential");
    }

    assertThat(lines).hasSizeLessThan(500);
  }

  @Test
  void shouldBoundWhatClientsCause() {
    for (int i = 0; i < 1000; i++) {
      audit.toolDenied("key alice", "files", null, "drop", "the tool is hidden");
    }

    assertThat(lines).hasSizeBetween(1, 499);
  }

  @Test
  void shouldWriteNothingWhileItIsOff() {
    write(AuditLog.OFF, session);

    assertThat(lines).isEmpty();
  }
}
