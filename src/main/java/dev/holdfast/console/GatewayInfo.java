package dev.holdfast.console;

import java.util.List;

/**
 * What does not change while the gateway runs.
 *
 * @param served whether to serve the console at all
 * @param store the kind of the store
 * @param replica the id of this replica; empty without a shared store
 * @param servers the upstreams
 * @param demo whether the default upstream has the demo tools
 */
public record GatewayInfo(
    boolean served,
    String version,
    String store,
    String replica,
    List<Server> servers,
    boolean demo) {

  /** Copies the list. */
  public GatewayInfo {
    servers = List.copyOf(servers);
  }

  /**
   * An upstream.
   *
   * @param path where clients reach it
   * @param kind what it is, in a word
   */
  public record Server(String name, String path, String kind) {}
}
