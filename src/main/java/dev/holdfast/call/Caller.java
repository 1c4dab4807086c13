package dev.holdfast.call;

import dev.holdfast.protocol.ForwardedHeaders;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The client that sends a message, and what goes with the message to the server.
 *
 * @param principal owner of its sessions
 * @param scopes rights besides those of everybody. A server gets those that its rules name
 * @param token its access token; null if it has none, or the server does not need it
 * @param headers headers of its request that go to the server
 * @param address its address; empty when unknown
 * @param network the network of the address; empty when unknown
 * @param userAgent its {@code User-Agent}, cut to {@value #MAX_USER_AGENT} characters; empty when
 *     unknown
 */
public record Caller(
    Principal principal,
    Set<String> scopes,
    @Nullable ClientToken token,
    ForwardedHeaders headers,
    String address,
    String network,
    String userAgent) {

  private static final int MAX_USER_AGENT = 200;

  /** A caller of which nothing is known. It may do what everybody may. */
  public static final Caller UNKNOWN = of(Principal.ANONYMOUS, Set.of(), null);

  /** Copies the scopes, and cuts the user agent, since it is stored with sessions. */
  public Caller {
    scopes = Set.copyOf(scopes);
    userAgent = userAgent.substring(0, Math.min(userAgent.length(), MAX_USER_AGENT));
  }

  /** A caller whose credentials are known, and nothing more. */
  public static Caller of(Principal principal, Set<String> scopes, @Nullable ClientToken token) {
    return new Caller(principal, scopes, token, ForwardedHeaders.NONE, "", "", "");
  }

  /** A caller for what no message of it causes, with the headers that its session keeps. */
  public static Caller of(Principal principal, ForwardedHeaders headers) {
    return new Caller(principal, Set.of(), null, headers, "", "", "");
  }

  /** Returns the same caller at an address. */
  public Caller at(String newAddress, String newNetwork, String agent) {
    return new Caller(principal, scopes, token, headers, newAddress, newNetwork, agent);
  }

  /** Returns the same caller with the scopes, the token and the headers for one server. */
  public Caller sending(Set<String> some, @Nullable ClientToken shown, ForwardedHeaders sent) {
    return new Caller(principal, some, shown, sent, address, network, userAgent);
  }

  /** Returns the same caller with other scopes. */
  public Caller with(Set<String> others) {
    return sending(others, token, headers);
  }

  /** Returns the same caller with other headers. */
  public Caller with(ForwardedHeaders others) {
    return sending(scopes, token, others);
  }

  /** The issuer and the subject of its principal; null when the gateway does not ask who calls. */
  public @Nullable String name() {
    return principal.equals(Principal.ANONYMOUS) ? null : principal.recorded();
  }

  /** Name of the share of the limits that its sessions take: its principal, or else its network. */
  public String share() {
    String name = name();
    return name == null ? network : name;
  }

  /** Scopes in alphabetical order, with a space between them (RFC 6749, section 3.3). */
  public static String format(Set<String> scopes) {
    return String.join(" ", new TreeSet<>(scopes));
  }

  /** Parses what {@link #format} returned. */
  public static Set<String> parse(String scopes) {
    return scopes.isEmpty() ? Set.of() : Set.of(scopes.split(" "));
  }
}
