package dev.holdfast.wiring;

import dev.holdfast.audit.AuditLog;
import dev.holdfast.call.ClientTokens;
import dev.holdfast.cli.CommandContext;
import dev.holdfast.clients.KnownClients;
import dev.holdfast.config.OwnCertificate;
import dev.holdfast.era.north.CallSettings;
import dev.holdfast.era.north.EraConfig;
import dev.holdfast.era.north.EraListener;
import dev.holdfast.era.north.StatelessRelay;
import dev.holdfast.held.CallReader;
import dev.holdfast.held.HeldCalls;
import dev.holdfast.held.HeldConfig;
import dev.holdfast.held.HeldListener;
import dev.holdfast.http.limit.ConnectionLimit;
import dev.holdfast.http.limit.LimitsConfig;
import dev.holdfast.http.limit.RequestLimit;
import dev.holdfast.log.CallIndex;
import dev.holdfast.log.EventLog;
import dev.holdfast.log.Inbox;
import dev.holdfast.log.SharedLog;
import dev.holdfast.log.StreamIndex;
import dev.holdfast.redis.RedisServerInfo;
import dev.holdfast.relay.Housekeeping;
import dev.holdfast.relay.Relay;
import dev.holdfast.relay.RequestSender;
import dev.holdfast.relay.StreamFollower;
import dev.holdfast.relay.attach.AttachListener;
import dev.holdfast.relay.attach.AttachedCalls;
import dev.holdfast.relay.failover.TakeOver;
import dev.holdfast.relay.legacy.LegacySseRelay;
import dev.holdfast.relay.pump.Pumps;
import dev.holdfast.relay.routing.MessageRouter;
import dev.holdfast.relay.routing.PinnedSessions;
import dev.holdfast.relay.routing.StreamStarter;
import dev.holdfast.relay.session.SessionOpener;
import dev.holdfast.relay.session.SessionUpstreams;
import dev.holdfast.relay.session.Sessions;
import dev.holdfast.relay.stream.Admission;
import dev.holdfast.relay.stream.CallListener;
import dev.holdfast.relay.stream.RelayListener;
import dev.holdfast.relay.stream.ReplayConfig;
import dev.holdfast.relay.stream.StoreFailureConfig;
import dev.holdfast.relay.stream.StreamConfig;
import dev.holdfast.relay.stream.TraceListener;
import dev.holdfast.relay.tail.PageReader;
import dev.holdfast.relay.tail.TailContext;
import dev.holdfast.relay.tail.TailOpener;
import dev.holdfast.relay.tail.Tails;
import dev.holdfast.seal.Seal;
import dev.holdfast.seal.SealStore;
import dev.holdfast.session.SessionConfig;
import dev.holdfast.session.SessionStore;
import dev.holdfast.upstream.Upstreams;
import dev.holdfast.wiring.config.CurrentConfig;
import dev.holdfast.wiring.config.GatewayConfig;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Builds the relay. Tests of the relay do so, too. */
@Singleton
public final class RelayProducer {

  @Produces public final Admission admission = new Admission();
  @Produces public final Tails tails = new Tails();
  @Produces public final Pumps pumps;
  @Produces final SessionUpstreams upstreams;
  @Produces final KnownClients clients;
  @Produces public final Sessions sessions;
  @Produces public final Relay relay;
  @Produces public final Housekeeping housekeeping;
  public final RequestSender sender;
  public final StreamFollower follower;
  public final LegacySseRelay legacy;
  private final EventLog log;
  private final TakeOver.Observers observers;
  private final PinnedSessions pinned;
  private final MessageRouter router;
  private final StreamStarter starter;

  /** The configuration of the relay. The framework reads only mappings that a bean needs. */
  @Singleton
  public record Config(
      GatewayConfig gateway,
      StreamConfig streams,
      ReplayConfig replay,
      StoreFailureConfig storeFailure,
      SessionConfig session,
      HeldConfig calls) {}

  /** The stores of the relay. */
  @Singleton
  public record Stores(
      EventLog log,
      SharedLog shared,
      SessionStore sessions,
      CallIndex calls,
      StreamIndex streams) {}

  /** Builds the relay, which takes messages from other replicas at once. */
  public RelayProducer(
      Config config,
      Upstreams configured,
      Stores stores,
      TakeOver.Observers observers,
      AttachListener repeated,
      ClientTokens tokens,
      InstantSource clock) {
    this.observers = observers;
    RelayListener listener = observers.listener();
    AuditLog audit = observers.audit();
    TraceListener traces = observers.traces();
    StreamConfig streams = config.streams();
    ReplayConfig replay = config.replay();
    log = stores.log();
    SessionStore store = stores.sessions();
    Inbox inbox = stores.shared().inbox();
    pumps = new Pumps(config.storeFailure().hold(), listener, traces);
    pinned = new PinnedSessions(inbox, pumps, listener);
    clients = new KnownClients(config.gateway().clients());
    upstreams = new SessionUpstreams(configured, store);
    sessions =
        new Sessions(
            store, upstreams, log, pumps, listener, audit, config.session().idleTimeout(), clock);
    SessionOpener sessionOpener =
        new SessionOpener(
            sessions,
            upstreams,
            log,
            (writer, server) -> pinned.pin(writer, server, false, null),
            listener,
            audit,
            clients,
            clock);
    router = new MessageRouter(sessions, upstreams, inbox, pumps, pinned);
    starter = new StreamStarter(sessions, upstreams, router, log, pumps, listener, traces);
    TailOpener opener =
        new TailOpener(
            new TailContext(
                log, streams, replay.onGap(), listener, tails, PageReader.pages(), clock, traces),
            replay,
            clients);
    AttachedCalls attached =
        new AttachedCalls(
            stores.calls(),
            stores.streams(),
            sessions,
            opener,
            config.calls().attachWindow(),
            repeated);
    sender =
        new RequestSender(
            upstreams, router, starter, opener, admission, listener, streams, attached);
    follower =
        new StreamFollower(
            sessions, upstreams, router, starter, opener, admission, replay, attached);
    legacy =
        new LegacySseRelay(
            sessions, sessionOpener, upstreams, admission, router, starter, opener, listener);
    relay = new Relay(admission, sessions, sessionOpener, sender, follower, legacy, tokens, traces);
    housekeeping = new Housekeeping(sessions, log, opener, pumps);
    router.start();
  }

  /** Builds a take-over into the relay. */
  @Produces
  @Singleton
  public TakeOver takeOver(SharedLog shared) {
    return new TakeOver(sessions, upstreams, log, shared, router, starter, pinned, observers);
  }

  @Produces
  @Singleton
  static Upstreams upstreams(ConfiguredUpstreams configured, MergedEndpoints merged) {
    return new Upstreams(configured.byName(), merged.byName());
  }

  @Produces
  @Singleton
  static TakeOver.Observers observers(
      ConfiguredUpstreams configured,
      RelayListener listener,
      AuditLog audit,
      @Nullable TraceListener traces) {
    return new TakeOver.Observers(configured::adopt, listener, audit, traces);
  }

  @Produces
  @Singleton
  static StatelessRelay statelessRelay(
      Relay relay,
      StatelessRelay.Stores stores,
      EraListener listener,
      EraConfig config,
      CurrentConfig current,
      CallSettings settings,
      CallListener calls,
      InstantSource clock) {
    return new StatelessRelay(
        relay,
        stores,
        listener,
        config,
        upstream -> current.newClients(upstream).orElse(config.newClients()),
        settings,
        calls,
        clock);
  }

  @Produces
  @Singleton
  static StatelessRelay.Stores statelessStores(SealStore seals, StreamIndex streams, EventLog log) {
    return new StatelessRelay.Stores(seals, streams, log);
  }

  @Produces
  @Singleton
  static CallSettings callSettings(HeldConfig calls, StreamConfig streams) {
    return new CallSettings(
        calls.taskAfter(), streams.eventTtl(), calls.attachWindow().isPositive());
  }

  @Produces
  @Singleton
  static HeldCalls heldCalls(
      Relay relay,
      StatelessRelay stateless,
      SealStore seals,
      HeldListener listener,
      HeldConfig config,
      CurrentConfig current,
      KnownClients clients,
      CallListener calls,
      InstantSource clock) {
    return new HeldCalls(
        relay,
        stateless,
        new Seal(seals, clock),
        config,
        upstream -> current.holdAfter(upstream).or(config::holdAfter),
        clients,
        listener,
        calls);
  }

  @Produces
  @Singleton
  static CallReader callReader(
      EventLog log, Relay relay, SealStore seals, HeldConfig config, InstantSource clock) {
    return new CallReader(log, relay::isDraining, new Seal(seals, clock), config.follow());
  }

  @Produces
  @Singleton
  static RequestLimit requestLimit(CurrentConfig current) {
    return new RequestLimit(
        () -> current.limits().requests(),
        () -> current.limits().requestsPerAddress(),
        () -> current.limits().requestsPerSecond(),
        current::requests);
  }

  @Produces
  @Singleton
  static ConnectionLimit connectionLimit(CurrentConfig current) {
    return new ConnectionLimit(current::limits);
  }

  @Produces
  @Singleton
  static CommandContext commandContext(
      GatewayConfig gateway,
      Optional<RedisConnections> redis,
      StreamIndex streams,
      SharedLog log,
      ConfiguredUpstreams upstreams,
      MergedEndpoints merged,
      Supplier<List<OwnCertificate>> certificates,
      KnownClients clients,
      LimitsConfig limits) {
    return new CommandContext(
        redis.map(opened ->
            new CommandContext.SharedStore(
                new RedisServerInfo(opened.client(), opened.keys()),
                streams,
                log.inbox(),
                gateway.redis().maxBytes().asLongValue())),
        upstreams.byName(),
        merged.all(),
        certificates,
        clients,
        limits.connections(),
        limits.messageBytes().value());
  }
}
