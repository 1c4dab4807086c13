package dev.holdfast.console;

import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.function.Supplier;

/**
 * Facts that the console tells of the gateway itself.
 *
 * @param store the kind of the store
 * @param replica the id of this replica; empty without a shared store
 * @param servers lists the upstreams, which may change
 * @param clientUrl where clients reach the gateway; empty if that is not configured
 * @param needsKey whether clients show a key or a token
 * @param demo whether the default upstream has the demo tools
 */
public record GatewayInfo(
    String version,
    String store,
    String replica,
    Supplier<List<Server>> servers,
    String clientUrl,
    boolean needsKey,
    boolean demo) {

  /**
   * An upstream.
   *
   * @param path where clients reach it
   * @param kind what it is, in a word
   */
  public record Server(String name, String path, String kind) {

    JsonObject json(boolean up) {
      return new JsonObject().put("name", name).put("path", path).put("kind", kind).put("up", up);
    }
  }
}
