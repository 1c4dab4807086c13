package dev.holdfast.relay.pump;

import dev.holdfast.log.StreamWriter;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.relay.LogFixture;
import dev.holdfast.relay.ScriptedSource;
import dev.holdfast.upstream.MessageSource;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** One pump on stream {@code s} of a {@link LogFixture}, and its messages. */
public final class PumpFixture {

  static final String STREAM = "s";
  public static final String PROGRESS =
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}";

  /** Short, because tests of an outage wait for it. */
  static final Duration HOLD = Duration.ofMillis(200);

  final LogFixture fixture = new LogFixture();
  final ScriptedSource source = new ScriptedSource();
  final List<Pump> ended = new CopyOnWriteArrayList<>();
  volatile Runnable collectCancellations = () -> {};
  final FaultyWriter writer = new FaultyWriter(fixture.open(STREAM));

  public static String result(String jsonId) {
    return "{\"jsonrpc\":\"2.0\",\"id\":" + jsonId + ",\"result\":{}}";
  }

  static String error(String jsonId, int code, String message) {
    return "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%d,\"message\":\"%s\"}}"
        .formatted(jsonId, code, message);
  }

  static String broken(String jsonId) {
    return error(
        jsonId, -32000, "The server's answer broke off; the outcome of the request is unknown");
  }

  /** A pump of the source for some requests. */
  Pump pump(String... jsonIds) {
    return pump(() -> source, jsonIds);
  }

  Pump pump(Supplier<MessageSource> upstream, String... jsonIds) {
    return pump(writer, upstream, jsonIds);
  }

  Pump pump(StreamWriter to, Supplier<MessageSource> upstream, String... jsonIds) {
    List<RequestId> ids = Stream.of(jsonIds).map(RequestId::new).toList();
    return new Pump(
        new Pump.Context(HOLD, fixture.heard, null, ended::add),
        to,
        "test",
        upstream::get,
        Pump.Origin.NOT_ASKED,
        ids,
        () -> collectCancellations.run());
  }

  Thread start(Pump pump) {
    return Thread.ofVirtual().start(pump::run);
  }

  List<String> logged() {
    return fixture.logged(STREAM);
  }

  /** Whether the stream has ended. */
  boolean isComplete() {
    var events = fixture.events(STREAM);
    return !events.isEmpty() && events.getLast().last();
  }
}
