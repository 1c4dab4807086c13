package dev.holdfast.http.limit;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.HexFormat;

/**
 * The addresses that count as one client. For IPv6 that is a /64 network: each customer gets at
 * least one, and so has 2^64 addresses for free.
 *
 * @param name equal for addresses of the same network
 */
public record ClientNetwork(String name) {

  private static final int PREFIX_BYTES = 8;

  /** Returns the network of an address. A text that is no address stands for itself. */
  public static ClientNetwork of(String address) {
    if (address.indexOf(':') < 0) {
      return new ClientNetwork(address);
    }
    try {
      return InetAddress.ofLiteral(address) instanceof Inet6Address v6
          ? new ClientNetwork(HexFormat.of().formatHex(v6.getAddress(), 0, PREFIX_BYTES) + "/64")
          // An IPv4-mapped IPv6 address.
          : new ClientNetwork(InetAddress.ofLiteral(address).getHostAddress());
    } catch (IllegalArgumentException noAddress) {
      return new ClientNetwork(address);
    }
  }
}
