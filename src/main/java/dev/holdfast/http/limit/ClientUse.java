package dev.holdfast.http.limit;

/**
 * Use of one limit by one client.
 *
 * @param held units that the client has now, such as open connections; 0 for a rate
 * @param wanted those, and the units that were refused since the last exchange; for a rate, the
 *     requests since then
 */
public record ClientUse(long held, long wanted) {

  /** No use. */
  public static final ClientUse NONE = new ClientUse(0, 0);

  /** The sum of two. */
  public ClientUse plus(ClientUse other) {
    return new ClientUse(held + other.held, wanted + other.wanted);
  }

  /**
   * The part of a limit that the replica with this use may give to the client. Together, replicas
   * give no more than the limit: each leaves what others hold, and if the client wants more than
   * the limit, each gives in proportion to what the client wants there.
   *
   * @param others use of the client on all other replicas
   */
  double share(double limit, ClientUse others) {
    double free = limit - others.wanted;
    double inProportion = wanted == 0 ? 0 : limit * wanted / (wanted + others.wanted);
    return Math.clamp(Math.max(free, inProportion), 0, Math.max(0, limit - others.held));
  }
}
