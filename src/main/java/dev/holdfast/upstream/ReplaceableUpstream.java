package dev.holdfast.upstream;

import dev.holdfast.call.Caller;
import dev.holdfast.lock.AutoLock;
import dev.holdfast.protocol.ForwardedHeaders;
import dev.holdfast.protocol.Message;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * An upstream whose server can be replaced or removed while sessions run. New sessions, and lost
 * sessions that are opened again, get the newest server. All others stay with the server that
 * opened them: with the one that has their process or connection, and else with the one that was
 * the newest when they were opened.
 */
public final class ReplaceableUpstream implements Upstream {

  /** Time for sessions that were opened just before to be recorded. */
  private static final Duration GRACE = Duration.ofMinutes(1);

  private final InstantSource clock;
  private final AutoLock lock = new AutoLock();

  /** The newest comes first. The lock guards changes. */
  private volatile List<Server> servers;

  /** Null while this upstream opens sessions. */
  private volatile @Nullable Instant removed;

  /** Guarded by the lock. */
  private Instant lastOpened = Instant.EPOCH;

  /** A server with the time from which it was the newest. */
  private record Server(Upstream upstream, Instant since, AtomicInteger opening) {}

  /** Begins with a server. */
  public ReplaceableUpstream(Upstream upstream, InstantSource clock) {
    this.clock = clock;
    servers = List.of(new Server(upstream, Instant.EPOCH, new AtomicInteger()));
  }

  private Instant now() {
    return clock.instant().truncatedTo(ChronoUnit.MILLIS);
  }

  /** Opens sessions at another server from now on, also after {@link #remove}. */
  public void replace(Upstream next) {
    try (var _ = lock.hold()) {
      // Later than every session of the server before, even if the clock was set back.
      Instant since = Collections.max(List.of(now(), lastOpened.plusMillis(1)));
      servers =
          Stream.concat(Stream.of(new Server(next, since, new AtomicInteger())), servers.stream())
              .toList();
      removed = null;
    }
  }

  /** Opens no more sessions. */
  public void remove() {
    removed = now();
  }

  /** Returns true if {@link #closeUnused} may have something to close. */
  public boolean isChanged() {
    return removed != null || servers.size() > 1;
  }

  /**
   * Closes the servers that were replaced and have no sessions; after {@link #remove}, the newest
   * one too.
   *
   * @param sessions all sessions of this upstream
   * @return whether nothing is left
   */
  public boolean closeUnused(Collection<UpstreamLink> sessions) {
    Set<Server> used = sessions.stream().map(this::of).collect(Collectors.toSet());
    List<Server> unused = new ArrayList<>();
    boolean empty;
    try (var _ = lock.hold()) {
      Instant replaced = removed;
      List<Server> kept = new ArrayList<>();
      for (Server server : servers) {
        boolean isUsed =
            replaced == null
                || replaced.plus(GRACE).isAfter(now())
                || server.opening().get() > 0
                || used.contains(server);
        (isUsed ? kept : unused).add(server);
        replaced = server.since();
      }
      empty = kept.isEmpty();
      if (!empty) {
        servers = List.copyOf(kept);
      }
    }
    unused.forEach(server -> server.upstream().close());
    return empty;
  }

  private Server newest() {
    return servers.getFirst();
  }

  private Server of(UpstreamLink link) {
    List<Server> all = servers;
    Instant opened = link.opened();
    if (all.size() == 1) {
      return all.getFirst();
    }
    return all.stream()
        .filter(server ->
            server.upstream().placement(link) instanceof Placement.Pinned(_, _, var here) && here)
        .findFirst()
        .or(() ->
            all.stream()
                .filter(server -> opened == null || !server.since().isAfter(opened))
                .findFirst())
        .orElseGet(all::getLast);
  }

  @Override
  public Handshake initialize(Message.Request initialize, Caller opener) {
    Server server;
    Instant opened;
    try (var _ = lock.hold()) {
      server = newest();
      opened = Collections.max(List.of(now(), server.since()));
      lastOpened = Collections.max(List.of(opened, lastOpened));
      server.opening().incrementAndGet();
    }
    try {
      Caller allowed = forwarded(server.upstream(), opener);
      Handshake handshake = server.upstream().initialize(initialize, allowed);
      UpstreamLink link = handshake.link();
      return link == null
          ? handshake
          : new Handshake(handshake.response(), link.openedAt(opened), handshake.before());
    } finally {
      server.opening().decrementAndGet();
    }
  }

  /** The traits of the newest server, with the headers, scopes and tokens of all. */
  @Override
  public Profile profile() {
    Profile newest = newest().upstream().profile();
    if (!isChanged()) {
      return newest;
    }
    List<Profile> all = servers.stream().map(server -> server.upstream().profile()).toList();
    return new Profile(
        union(all, Profile::forwardedHeaders),
        union(all, Profile::namedScopes),
        all.stream().anyMatch(Profile::takesClientToken),
        all.stream().anyMatch(Profile::needsClientToken),
        newest.canReopen(),
        removed == null);
  }

  private static Set<String> union(List<Profile> all, Function<Profile, Set<String>> names) {
    return all.stream()
        .flatMap(profile -> names.apply(profile).stream())
        .collect(Collectors.toUnmodifiableSet());
  }

  /** Another server may get headers that this one must not get. */
  private Caller forwarded(Upstream server, Caller sender) {
    return servers.size() == 1
        ? sender
        : sender.with(
            ForwardedHeaders.of(
                server.profile().forwardedHeaders(), sender.headers().values()::get));
  }

  @Override
  public UpstreamSession attach(UpstreamLink link) {
    Upstream server = of(link).upstream();
    return server.attach(link.with(forwarded(server, link.sender())));
  }

  @Override
  public Placement placement(UpstreamLink link) {
    return of(link).upstream().placement(link);
  }

  @Override
  public boolean mayHaveOpened(UpstreamLink link) {
    return of(link).upstream().mayHaveOpened(link);
  }

  @Override
  public void reopen(UpstreamLink link, Message.Request initialize, boolean initialized) {
    newest().upstream().reopen(link, initialize, initialized);
  }

  /** The processes of all servers, and the limit of the newest one. */
  @Override
  public ProcessCount processes() {
    int running =
        servers.stream().mapToInt(server -> server.upstream().processes().running()).sum();
    return new ProcessCount(running, newest().upstream().processes().limit());
  }

  @Override
  public void close() {
    servers.forEach(server -> server.upstream().close());
  }
}
