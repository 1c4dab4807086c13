package dev.holdfast.http.socket;

import io.quarkus.vertx.http.runtime.CurrentVertxRequest;
import io.smallrye.common.net.CidrAddress;
import io.smallrye.common.net.Inet;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.SocketAddress;
import io.vertx.ext.web.RoutingContext;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.jspecify.annotations.Nullable;

/**
 * Resolves the client address of the current request: that of the socket or, behind trusted proxies
 * ({@code quarkus.http.proxy.*}), the right-most address in their header that is no trusted proxy.
 * What stands to the left of it comes from the client, which may write anything there. Quarkus
 * itself takes the left-most.
 */
@Singleton
public final class ClientAddress {

  private static final String UNKNOWN = "unknown";
  private static final String FOR = "for=";

  /** Key under which the address of a request is kept. */
  private static final String ADDRESS = ClientAddress.class.getName();

  /** The longest IPv6 address has 45 characters, a zone some more. Sessions keep the address. */
  private static final int MAX_LENGTH = 100;

  private final CurrentVertxRequest request;
  private final boolean allowForwarded;
  private final List<CidrAddress> proxies;

  @Inject
  ClientAddress(
      CurrentVertxRequest request,
      @ConfigProperty(name = "quarkus.http.proxy.allow-forwarded", defaultValue = "false")
          boolean allowForwarded,
      @ConfigProperty(name = "quarkus.http.proxy.trusted-proxies") Optional<List<String>> proxies) {
    this.request = request;
    this.allowForwarded = allowForwarded;
    this.proxies =
        proxies.orElse(List.of()).stream().flatMap(text -> network(text).stream()).toList();
  }

  /** Returns a network or an address; empty for a host name, which only a peer can match. */
  private static Optional<CidrAddress> network(String text) {
    InetAddress address = Inet.parseInetAddress(text);
    return Optional.ofNullable(
        address == null
            ? Inet.parseCidrAddress(text)
            : CidrAddress.create(address, 8 * address.getAddress().length));
  }

  /** Returns the address. A proxy may send any text, so it may be no IP address. */
  public String current() {
    RoutingContext current = request.getCurrent();
    if (current == null) {
      return UNKNOWN;
    }
    String known = current.get(ADDRESS);
    if (known == null) {
      known = of(current.request());
      current.put(ADDRESS, known);
    }
    return known;
  }

  private String of(HttpServerRequest current) {
    SocketAddress peer = current.connection().remoteAddress();
    SocketAddress named = current.remoteAddress();
    if (named == null || named.equals(peer)) {
      return text(peer);
    }
    // Quarkus trusts the peer, and found a header.
    return lastUntrusted(headers(current));
  }

  private List<String> headers(HttpServerRequest current) {
    List<String> forwarded =
        allowForwarded ? current.headers().getAll("Forwarded") : List.<String>of();
    return forwarded.isEmpty() ? current.headers().getAll("X-Forwarded-For") : forwarded;
  }

  /** Returns the right-most address that is no trusted proxy; the left-most if all of them are. */
  String lastUntrusted(List<String> headers) {
    List<String> addresses =
        headers.stream()
            .flatMap(header -> Arrays.stream(header.split(",")))
            .map(ClientAddress::address)
            .toList();
    return addresses.reversed().stream()
        .filter(address -> !isTrusted(address))
        .findFirst()
        .or(() -> addresses.stream().findFirst())
        .filter(address -> address.length() <= MAX_LENGTH)
        .orElse(UNKNOWN);
  }

  private boolean isTrusted(String text) {
    InetAddress address = Inet.parseInetAddress(text);
    return address != null && proxies.stream().anyMatch(each -> each.matches(address));
  }

  /** Reads an element of {@code Forwarded} (RFC 7239, section 4) or of {@code X-Forwarded-For}. */
  private static String address(String element) {
    String node =
        Arrays.stream(element.split(";"))
            .map(String::strip)
            .filter(parameter -> parameter.regionMatches(true, 0, FOR, 0, FOR.length()))
            .map(parameter -> parameter.substring(FOR.length()))
            .findFirst()
            .orElse(element.strip())
            .replace("\"", "");
    int bracket = node.indexOf(']');
    if (node.startsWith("[") && bracket > 0) {
      return node.substring(1, bracket);
    }
    int colon = node.indexOf(':');
    return colon >= 0 && colon == node.lastIndexOf(':') ? node.substring(0, colon) : node;
  }

  private static String text(@Nullable SocketAddress address) {
    if (address == null) {
      return UNKNOWN;
    }
    // A domain socket has no host address.
    String host = address.hostAddress() == null ? address.host() : address.hostAddress();
    return host == null ? UNKNOWN : host;
  }
}
