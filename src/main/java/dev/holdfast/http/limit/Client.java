package dev.holdfast.http.limit;

import dev.holdfast.session.PrincipalId;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.HexFormat;

/**
 * One client, for limits: a principal or, before it is known and on a gateway without
 * authentication, the network of an address.
 *
 * @param name of the principal or the network
 * @param isPrincipal whether the name is that of a principal
 */
public record Client(String name, boolean isPrincipal) {

  private static final int PREFIX_BYTES = 8;

  /**
   * Returns the client at an address. For IPv6 that is a /64 network: each customer gets at least
   * one, and so has 2^64 addresses for free. A text that is no address stands for itself.
   */
  public static Client at(String address) {
    if (address.indexOf(':') < 0) {
      return new Client(address, false);
    }
    try {
      return InetAddress.ofLiteral(address) instanceof Inet6Address v6
          ? new Client(HexFormat.of().formatHex(v6.getAddress(), 0, PREFIX_BYTES) + "/64", false)
          // An IPv4-mapped IPv6 address.
          : new Client(InetAddress.ofLiteral(address).getHostAddress(), false);
    } catch (IllegalArgumentException noAddress) {
      return new Client(address, false);
    }
  }

  /** Returns a principal as a client; that at an address if the principal is anonymous. */
  public static Client of(PrincipalId principal, String address) {
    return principal.equals(PrincipalId.ANONYMOUS)
        ? at(address)
        : new Client(principal.recorded(), true);
  }

  /** The client for the log, which names no people. */
  @Override
  public String toString() {
    return isPrincipal ? "a principal" : name;
  }
}
