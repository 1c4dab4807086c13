package dev.holdfast.record;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.Message;
import dev.holdfast.record.TapeEntry.Sender;
import dev.holdfast.relay.ScriptedUpstream;
import dev.holdfast.upstream.Answer;
import dev.holdfast.upstream.MessageSource;
import dev.holdfast.upstream.UpstreamException;
import dev.holdfast.upstream.UpstreamLink;
import dev.holdfast.upstream.UpstreamMessage;
import dev.holdfast.upstream.UpstreamSession;
import java.io.ByteArrayOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Plays a tape, and compares it with another one that is played. */
@Timeout(20)
class ReplayTest {

  private static final String INITIALIZE =
      "{'id':0,'method':'initialize','params':{'protocolVersion':'2025-11-25','x':1}}";
  private static final String INITIALIZED =
      "{'id':0,'result':{'protocolVersion':'2025-11-25','serverInfo':{'name':'s'}}}";

  private final List<TapeEntry> entries = new ArrayList<>();

  /** A session with a list, two calls, of which one asks, a cancelled call and an announcement. */
  private Tape tape(String answer) {
    entries.clear();
    client("1", INITIALIZE);
    server("1", INITIALIZED);
    client(null, "{'method':'notifications/initialized'}");
    client("2", "{'id':1,'method':'tools/list'}");
    server("2", "{'id':1,'result':{'tools':[1.0]}}");
    call("3", 2, "count", "first");
    server("3", "{'method':'notifications/progress','params':{'progressToken':2,'progress':1}}");
    server("3", "{'id':'q','method':'elicitation/create','params':{'message':'sure?'}}");
    client(null, "{'id':'q','result':{'action':'accept'}}");
    server("3", "{'id':2,'result':{'text':'" + answer + "'}}");
    call("4", 3, "count", "first");
    server("4", "{'id':3,'result':{'text':'second'}}");
    call("5", 4, "hang", "x");
    client(null, "{'method':'notifications/cancelled','params':{'requestId':4}}");
    server("g", "{'method':'notifications/news'}");
    return new Tape("web", entries, false);
  }

  private void call(String stream, int id, String tool, String argument) {
    client(stream, call(id, tool, argument));
  }

  private static String call(int id, String tool, String argument) {
    return "{'id':%d,'method':'tools/call','params':{'name':'%s','arguments':{'a':'%s'},"
            .formatted(id, tool, argument)
        + "'_meta':{'progressToken':%d}}}".formatted(id);
  }

  private void client(@Nullable String stream, String json) {
    add(Sender.CLIENT, stream, json);
  }

  private void server(String stream, String json) {
    add(Sender.SERVER, stream, json);
  }

  /** The entries are an hour apart. */
  private void add(Sender from, @Nullable String stream, String json) {
    Instant time = Instant.EPOCH.plusSeconds(3600L * entries.size());
    entries.add(new TapeEntry.Sent(time, from, stream, 1, body(json)));
  }

  private static Body body(String json) {
    return Envelopes.read(
        ("{'jsonrpc':'2.0'," + json.substring(1)).replace('\'', '"').getBytes(UTF_8));
  }

  private static UpstreamSession open(ReplayUpstream upstream) {
    Message.Request initialize =
        (Message.Request) body(INITIALIZE.replace("'x':1", "'x':2")).messages().getFirst();
    UpstreamLink link = upstream.initialize(initialize).link();
    return upstream.attach(Objects.requireNonNull(link));
  }

  private static List<String> request(UpstreamSession session, String json) {
    Answer answer = session.request(body(json));
    List<String> messages = new ArrayList<>();
    answer.source().forEach(message -> messages.add(text(message)));
    return messages;
  }

  private static String text(UpstreamMessage message) {
    return new String(message.payload(), UTF_8)
        .replace('"', '\'')
        .replace("{'jsonrpc':'2.0',", "{");
  }

  private static double atOnce() {
    return Double.POSITIVE_INFINITY;
  }

  @Test
  void shouldAnswerAsOnTheTapeUnderNewIds() throws Exception {
    UpstreamSession session = open(new ReplayUpstream(tape("yes"), atOnce()));
    MessageSource call = session.request(body(call(77, "count", "first"))).source();

    assertThat(request(session, "{'id':'n','method':'tools/list','params':{'_meta':{}}}"))
        .containsExactly("{'id':'n','result':{'tools':[1.0]}}");
    assertThat(text(call.take().getFirst())).contains("'progressToken':77");
    assertThat(text(call.take().getFirst())).contains("'id':'q','method':'elicitation/create'");
    // The recorded server waited for the answer.
    CompletableFuture<List<UpstreamMessage>> rest = CompletableFuture.supplyAsync(call::take);
    assertThat(rest).isNotDone();
    session.send(body("{'id':'q','result':{'action':'decline'}}"));
    assertThat(text(rest.join().getFirst())).isEqualTo("{'id':77,'result':{'text':'yes'}}");
    assertThat(call.take()).isEmpty();
    for (int i = 0; i < 2; i++) {
      assertThat(request(session, call(5, "count", "first")))
          .containsExactly("{'id':5,'result':{'text':'second'}}");
    }
    assertThat(request(session, "{'id':8,'method':'ping'}"))
        .containsExactly("{'id':8,'result':{}}");
    assertThat(request(session, call(9, "count", "other")).toString())
        .contains("'id':9,'error'")
        .contains("The tape has no tools/call of count with these params");
  }

  @Test
  void shouldKeepACancelledCallOpenAndAnnounceAfterTheSameRequest() throws Exception {
    UpstreamSession session = open(new ReplayUpstream(tape("yes"), atOnce()));
    MessageSource standalone = session.listen(null).orElseThrow();
    CompletableFuture<List<UpstreamMessage>> news = CompletableFuture.supplyAsync(standalone::take);
    for (int i = 0; i < 3; i++) {
      assertThat(request(session, "{'id':1,'method':'ping'}")).hasSize(1);
      assertThat(news).isNotDone();
    }

    MessageSource hanging = session.request(body(call(4, "hang", "x"))).source();

    assertThat(text(news.join().getFirst())).contains("notifications/news");
    CompletableFuture<List<UpstreamMessage>> end = CompletableFuture.supplyAsync(hanging::take);
    assertThat(end).isNotDone();
    hanging.close();
    assertThat(end.join()).isEmpty();
    standalone.close();
    assertThat(standalone.take()).isEmpty();
  }

  @Test
  void shouldNotReplayATapeWithoutTheBeginningOfItsSession() {
    Tape whole = tape("yes");
    List<TapeEntry> rest = whole.entries().subList(2, whole.entries().size());

    assertThatExceptionOfType(TapeException.class)
        .isThrownBy(() -> new ReplayUpstream(new Tape(whole.upstream(), rest, false), atOnce()))
        .withMessageContaining("does not begin with an answered initialize");
  }

  @Test
  void shouldWaitAsRecorded() throws Exception {
    Tape tape = tape("yes");
    // At this speed an hour takes 3.6 ms.
    UpstreamSession fast = open(new ReplayUpstream(tape, 999_999));
    long start = System.nanoTime();
    assertThat(request(fast, "{'id':1,'method':'tools/list'}")).hasSize(1);
    assertThat(System.nanoTime() - start).isGreaterThan(3_000_000);
    // The first hour would be over after 36 s. Only a wait notices the interrupt.
    ReplayUpstream slow = new ReplayUpstream(tape, 100);
    Thread.currentThread().interrupt();
    assertThatExceptionOfType(UpstreamException.Broken.class).isThrownBy(() -> open(slow));
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void shouldRefuseATapeWithoutASession() {
    assertThatExceptionOfType(TapeException.class)
        .isThrownBy(() ->
            new ReplayUpstream(new Tape("web", tape("x").entries().subList(1, 9), false), atOnce()))
        .withMessageContaining("initialize");
  }

  private List<String> differences(Tape tape, Tape server, String... ignored) throws Exception {
    List<String> found = new ArrayList<>();
    TapeVerifier verifier =
        new TapeVerifier(
            tape,
            List.of(ignored),
            each ->
                found.add(
                    each.request()
                        + " "
                        + each.place()
                        + " "
                        + each.pointer()
                        + " "
                        + each.recorded()
                        + " "
                        + each.live()));
    TapeVerifier.Result result = verifier.run(new ReplayUpstream(server, atOnce()));
    assertThat(result).isEqualTo(new TapeVerifier.Result(4, 1, found.size()));
    return found;
  }

  @Test
  void shouldFindExactlyTheDifferences() throws Exception {
    Tape tape = tape("yes");

    assertThat(differences(tape, tape)).isEmpty();
    assertThat(differences(tape, tape("no")))
        .containsExactly("3 response /result/text \"yes\" \"no\"");
    assertThat(differences(tape, tape("no"), "/result/text")).isEmpty();
    assertThat(differences(tape, tape("no"), "/*/text")).isEmpty();
    assertThat(differences(tape, tape("no"), "/result/tex")).hasSize(1);
    tape("yes");
    entries.remove(6); // its progress
    Tape silent = new Tape("web", entries, false);
    assertThat(differences(tape, silent).getFirst()).startsWith("3 message 1 /");
    assertThat(differences(silent, tape).getLast()).startsWith("3 message 2  null {");
  }

  @Test
  void shouldReportEachRequestThatTheServerFails() throws Exception {
    ScriptedUpstream server = new ScriptedUpstream();
    server.answer =
        _ -> {
          throw new UpstreamException.Busy();
        };
    List<TapeVerifier.Difference> found = new ArrayList<>();

    TapeVerifier.Result result = new TapeVerifier(tape("x"), List.of(), found::add).run(server);

    assertThat(result.requests()).isEqualTo(4);
    assertThat(found)
        .filteredOn(each -> String.valueOf(each.live()).startsWith("\"failed: "))
        .extracting(TapeVerifier.Difference::request)
        .containsExactly(2, 3, 4);
  }

  @Test
  void shouldPrintAColumnForEachStream(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("a.jsonl");
    ByteArrayOutputStream written = new ByteArrayOutputStream();
    written.writeBytes(TapeLine.header(Instant.EPOCH, "web", 1));
    for (TapeEntry entry : tape("yes").entries()) {
      var sent = (TapeEntry.Sent) entry;
      written.writeBytes(
          TapeLine.sent(
              sent.time(), sent.from(), sent.stream(), sent.position(), sent.body().bytes()));
    }
    Files.write(file, written.toByteArray());

    List<String> lines = new ArrayList<>();
    TapeTimeline.print(file, lines::add);

    assertThat(lines.get(0))
        .startsWith("    0.000 ")
        .endsWith(" 1→ initialize {\"protocolVersion\":\"2025-11-25\"…");
    assertThat(lines.get(2)).startsWith(" 7200.000  → notifications/initialized");
    assertThat(lines.get(8))
        .startsWith("28800.000  → result {\"action\":\"accept\"}")
        .endsWith(" │");
    assertThat(lines.get(9)).endsWith(" 3← result {\"text\":\"yes\"}");
    assertThat(lines.get(12)).endsWith("5→ tools/call hang {\"a\":\"x\"}");
  }
}
