package dev.holdfast.era.north;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.MetaKeys;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a server says of itself when a session is opened.
 *
 * @param capabilities raw JSON object
 * @param serverInfo raw JSON object
 * @param instructions raw JSON string; null if there are none
 */
record Discovery(String capabilities, String serverInfo, @Nullable String instructions) {

  /** Of a server whose session another replica has opened. */
  static final Discovery UNKNOWN = new Discovery("{}", "{}", null);

  /** Reads the result of {@code initialize}. */
  static Discovery read(byte[] response) {
    byte[] result =
        Objects.requireNonNullElse(JsonEdit.raw(response, "result"), "{}").getBytes(UTF_8);
    return new Discovery(
        Objects.requireNonNullElse(JsonEdit.raw(result, "capabilities"), "{}"),
        Objects.requireNonNullElse(JsonEdit.raw(result, "serverInfo"), "{}"),
        JsonEdit.raw(result, "instructions"));
  }

  boolean has(String capability) {
    return JsonEdit.raw(capabilities.getBytes(UTF_8), capability) != null;
  }

  /** Returns true if a server with sessions has a method. */
  boolean serves(String method) {
    String capability = StatelessMethods.CAPABILITIES.get(method);
    return capability != null && has(capability);
  }

  /** Returns true if a capability has a member that is true. */
  boolean declares(String capability, String member) {
    return "true".equals(JsonEdit.raw(capabilities.getBytes(UTF_8), capability, member));
  }

  /** The response to {@code server/discover}. */
  byte[] toResponse(String id) {
    JsonEdit response =
        new JsonEdit()
            .set("\"2.0\"", "jsonrpc")
            .set(id, "id")
            .set("\"complete\"", "result", "resultType")
            .set(StatelessRules.versions(true), "result", "supportedVersions")
            .set(withoutTasks(), "result", "capabilities")
            .set(serverInfo, "result", "_meta", MetaKeys.SERVER_INFO)
            .set("0", "result", "ttlMs")
            .set("\"private\"", "result", "cacheScope");
    if (instructions != null) {
      response.set(instructions, "result", "instructions");
    }
    return response.apply("{}".getBytes(UTF_8));
  }

  private String withoutTasks() {
    byte[] bytes = capabilities.getBytes(UTF_8);
    return new String(new JsonEdit().remove("tasks").apply(bytes), UTF_8);
  }
}
