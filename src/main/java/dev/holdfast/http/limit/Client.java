package dev.holdfast.http.limit;

import dev.holdfast.call.Caller;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * One client, for limits: a principal or, before it is known and on a gateway without
 * authentication, the network of an address.
 *
 * @param name of the principal or the network
 * @param isPrincipal whether the name is that of a principal
 */
public record Client(String name, boolean isPrincipal) {

  private static final int PREFIX_DIGITS = 16;

  /** The prefix 64:ff9b::/96. */
  private static final String NAT64 = "0064ff9b0000000000000000";

  /**
   * Returns the client at an address. For IPv6 that is a /64 network: each customer gets at least
   * one, and so has 2^64 addresses for free. An address behind NAT64 (RFC 6052, section 2.1) is its
   * IPv4 address. A zone is left out: it is no part of an address, and a client may write any. A
   * text that is no address stands for itself.
   */
  public static Client at(String address) {
    if (address.indexOf(':') < 0) {
      return new Client(address, false);
    }
    int zone = address.indexOf('%');
    try {
      InetAddress literal = InetAddress.ofLiteral(zone < 0 ? address : address.substring(0, zone));
      byte[] bytes = literal.getAddress();
      if (!(literal instanceof Inet6Address)) {
        return new Client(literal.getHostAddress(), false); // It was IPv4-mapped.
      }
      String hex = HexFormat.of().formatHex(bytes);
      if (hex.startsWith(NAT64)) {
        byte[] v4 = Arrays.copyOfRange(bytes, NAT64.length() / 2, bytes.length);
        return new Client(InetAddress.getByAddress(v4).getHostAddress(), false);
      }
      return new Client(hex.substring(0, PREFIX_DIGITS) + "/64", false);
    } catch (IllegalArgumentException | UnknownHostException noAddress) {
      return new Client(address, false);
    }
  }

  /** Returns the share of a caller; that of its network if it has no principal. */
  public static Client of(Caller caller) {
    return new Client(caller.share(), caller.name() != null);
  }

  /** The client for the log, which names no people. */
  @Override
  public String toString() {
    return isPrincipal ? "a principal" : name;
  }
}
