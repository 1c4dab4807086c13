package dev.holdfast.http;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.HexFormat;

/**
 * Who counts as one client. Of IPv6 that is a /64 network: it is what one customer is given at
 * least, so whoever wants more addresses has 2^64 of them for nothing.
 *
 * @param name equal for addresses of the same network
 */
record ClientNetwork(String name) {

  private static final int PREFIX_BYTES = 8;

  /** The network of an address; any other text stands for itself. */
  static ClientNetwork of(String address) {
    if (address.indexOf(':') < 0) {
      return new ClientNetwork(address);
    }
    try {
      return InetAddress.ofLiteral(address) instanceof Inet6Address v6
          ? new ClientNetwork(HexFormat.of().formatHex(v6.getAddress(), 0, PREFIX_BYTES) + "/64")
          // An IPv4 address in the clothes of IPv6.
          : new ClientNetwork(InetAddress.ofLiteral(address).getHostAddress());
    } catch (IllegalArgumentException noAddress) {
      return new ClientNetwork(address);
    }
  }
}
