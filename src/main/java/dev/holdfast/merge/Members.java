package dev.holdfast.merge;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.call.Caller;
import dev.holdfast.protocol.ForwardedHeaders;
import dev.holdfast.protocol.Sha256;
import dev.holdfast.upstream.Profile;
import dev.holdfast.upstream.Upstream;
import dev.holdfast.upstream.UpstreamException;
import java.time.Duration;
import java.util.Collections;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The servers of an endpoint. A change shows within a second. Thread-safe. */
final class Members {

  private static final String EVERYBODY = "";
  private static final long MAX_AGE = Duration.ofSeconds(1).toNanos();

  private final List<String> names;
  private final Supplier<Map<String, Upstream>> upstreams;
  private final ServerRules rules;

  private volatile @Nullable Snapshot snapshot;

  /**
   * The servers at one time.
   *
   * @param byName the most important first
   * @param profile the headers, scopes and tokens of all
   */
  private record Snapshot(Map<String, Upstream> byName, Profile profile, long since) {}

  /**
   * Chooses servers.
   *
   * @param names names of the servers; empty for all in alphabetical order
   * @param upstreams returns the servers by name
   */
  Members(List<String> names, Supplier<Map<String, Upstream>> upstreams, ServerRules rules) {
    this.names = names;
    this.upstreams = upstreams;
    this.rules = rules;
  }

  private Snapshot now() {
    Snapshot now = snapshot;
    if (now == null || System.nanoTime() - now.since > MAX_AGE) {
      Map<String, Upstream> chosen = choose();
      now = new Snapshot(chosen, profile(chosen), System.nanoTime());
      snapshot = now;
    }
    return now;
  }

  private Map<String, Upstream> choose() {
    Map<String, Upstream> all = upstreams.get();
    if (names.isEmpty()) {
      return Collections.unmodifiableMap(new TreeMap<>(all));
    }
    Map<String, Upstream> chosen = new LinkedHashMap<>();
    for (String name : names) {
      Upstream server = all.get(name);
      if (server != null) {
        chosen.put(name, server);
      }
    }
    return Collections.unmodifiableMap(chosen);
  }

  /** A lost session with a server is opened again, and a token is asked of those that need one. */
  private Profile profile(Map<String, Upstream> servers) {
    Set<String> headers = new TreeSet<>();
    Set<String> scopes = new TreeSet<>();
    boolean tokens = false;
    for (Map.Entry<String, Upstream> server : servers.entrySet()) {
      Profile profile = server.getValue().profile();
      headers.addAll(profile.forwardedHeaders());
      scopes.addAll(profile.namedScopes());
      rules.scope(server.getKey()).ifPresent(scopes::add);
      tokens |= profile.takesClientToken();
    }
    return new Profile(headers, scopes, tokens, false, true, true);
  }

  /** The headers, scopes and tokens of all servers. */
  Profile profile() {
    return now().profile;
  }

  /** The servers by name, the most important first. */
  Map<String, Upstream> byName() {
    return now().byName;
  }

  /** Finds a server; throws {@link UpstreamException.Unreachable} if it was removed. */
  Upstream server(String name) {
    Upstream server = byName().get(name);
    if (server == null) {
      throw new UpstreamException.Unreachable(null);
    }
    return server;
  }

  ServerRules rules() {
    return rules;
  }

  /** The names of the servers that a caller may use, the most important first. */
  List<String> visible(Caller caller) {
    return byName().keySet().stream().filter(name -> rules.mayUse(name, caller)).toList();
  }

  /** Returns the caller with what a server may get of it. */
  static Caller forServer(Upstream server, Caller caller) {
    Profile profile = server.profile();
    Set<String> scopes = new HashSet<>(caller.scopes());
    scopes.retainAll(profile.namedScopes());
    return caller.sending(
        scopes,
        profile.takesClientToken() ? caller.token() : null,
        ForwardedHeaders.of(profile.forwardedHeaders(), caller.headers().values()::get));
  }

  /** The kind of a caller: callers of one kind look the same to all servers. */
  String kind(Caller caller) {
    Profile profile = profile();
    Set<String> scopes = new TreeSet<>(caller.scopes());
    scopes.retainAll(profile.namedScopes());
    boolean isKnown = profile.takesClientToken() || !profile.forwardedHeaders().isEmpty();
    String who = isKnown ? caller.principal().recorded() + "\n" + caller.headers().values() : "";
    return who.isEmpty() && scopes.isEmpty()
        ? EVERYBODY
        : HexFormat.of().formatHex(Sha256.of((scopes + "\n" + who).getBytes(UTF_8)));
  }
}
