package dev.holdfast.console;

import java.util.List;
import java.util.function.Supplier;

/**
 * Facts that the console tells of the gateway itself.
 *
 * @param served whether to serve the console at all
 * @param store the kind of the store
 * @param replica the id of this replica; empty without a shared store
 * @param servers lists the upstreams, which may change
 * @param demo whether the default upstream has the demo tools
 */
public record GatewayInfo(
    boolean served,
    String version,
    String store,
    String replica,
    Supplier<List<Server>> servers,
    boolean demo) {

  /**
   * An upstream.
   *
   * @param path where clients reach it
   * @param kind what it is, in a word
   */
  public record Server(String name, String path, String kind) {}
}
