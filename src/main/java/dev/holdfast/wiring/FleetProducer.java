package dev.holdfast.wiring;

import dev.holdfast.call.SessionId;
import dev.holdfast.cli.ProcessMode;
import dev.holdfast.cluster.ReplicaList;
import dev.holdfast.console.Calls;
import dev.holdfast.console.calls.CallRecords;
import dev.holdfast.console.fleet.Counts;
import dev.holdfast.console.fleet.Fleet;
import dev.holdfast.console.fleet.History;
import dev.holdfast.console.fleet.RedisReports;
import dev.holdfast.console.fleet.Report;
import dev.holdfast.console.fleet.Reports;
import dev.holdfast.console.fleet.ServerFigures;
import dev.holdfast.console.fleet.StoredCalls;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.SharedLog;
import dev.holdfast.log.StreamIndex;
import dev.holdfast.relay.Relay;
import dev.holdfast.relay.pump.Pumps;
import dev.holdfast.relay.session.Sessions;
import dev.holdfast.session.Session;
import dev.holdfast.wiring.config.GatewayConfig;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.runtime.Startup;
import io.vertx.core.json.JsonArray;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import jakarta.annotation.PreDestroy;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Lets the console know calls and figures of all replicas. */
@Singleton
@Startup
final class FleetProducer {

  private final @Nullable Thread sampling;

  @Produces final Fleet fleet;

  FleetProducer(
      GatewayConfig gateway,
      ProcessMode mode,
      CallRecords records,
      Relay relay,
      RelayProducer.Stores stores,
      Optional<RedisConnections> redis,
      ServerFigures servers,
      InstantSource clock) {
    MeterRegistry metrics = servers.metrics();
    History history = new History(metrics, clock);
    Counts counts = new Counts(metrics, relay::openStreams);
    String replica = redis.map(opened -> opened.replica().value()).orElse("");
    StreamIndex streams = stores.streams();
    StoredCalls stored =
        redis
            .map(opened ->
                new StoredCalls(stores.sessions(), streams, () -> takesTurn(opened), clock))
            .orElse(null);
    Supplier<Report> own =
        () ->
            new Report(
                replica,
                clock.millis(),
                calls(records.last(streams), stored),
                history.samples(),
                counts.read(),
                servers.read(),
                servers.peers().clients());
    LongSupplier changes =
        () -> records.changes() + history.taken() + (stored == null ? 0 : stored.changes());
    Supplier<List<ReplicaList.Replica>> replicas =
        () -> redis.map(opened -> opened.replicas().list()).orElse(List.of());
    fleet =
        new Fleet(
            own,
            redis.map(opened -> reports(opened, own, changes)).orElse(Reports.NONE),
            stored,
            replicas,
            clock);
    records.find(new OfRelay(relay.sessions()));
    sampling =
        mode.serves() && gateway.console() != GatewayConfig.Console.OFF
            ? Thread.ofVirtual().name("console-history").start(() -> sample(history))
            : null;
  }

  private static JsonArray calls(JsonArray recorded, @Nullable StoredCalls stored) {
    return stored == null ? recorded : new JsonArray().addAll(recorded).addAll(stored.calls());
  }

  private static boolean takesTurn(RedisConnections redis) {
    Request turn =
        Request.cmd(Command.SET)
            .arg(redis.keys().storedCallsTurn())
            .arg(redis.replica().value())
            .arg("NX")
            .arg("PX")
            .arg(StoredCalls.AGAIN.toMillis());
    return redis.client().send(turn) != null;
  }

  private static Reports reports(
      RedisConnections redis, Supplier<Report> own, LongSupplier changes) {
    RedisReports reports =
        new RedisReports(
            redis.client(), redis.keys(), redis.replica().value(), redis.replicas(), own, changes);
    redis.subscription().addListener(reports::received, () -> {});
    return reports;
  }

  /** Sessions as the relay knows them. */
  private record OfRelay(Sessions sessions) implements CallRecords.Sessions {

    @Override
    public @Nullable Session recent(SessionId id) {
      return sessions.recent(id);
    }

    @Override
    public Optional<Session> stored(SessionId id) {
      return sessions.peek(id);
    }
  }

  private static void sample(History history) {
    try {
      while (true) {
        history.sample();
        Thread.sleep(History.STEP);
      }
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
    }
  }

  @Produces
  @Singleton
  static Calls calls(
      Fleet fleet,
      EventLog log,
      StreamIndex streams,
      SharedLog shared,
      Pumps pumps,
      InstantSource clock) {
    return new Calls(fleet, log, streams, shared.inbox(), pumps, clock);
  }

  @PreDestroy
  void close() {
    if (sampling != null) {
      sampling.interrupt();
    }
  }
}
