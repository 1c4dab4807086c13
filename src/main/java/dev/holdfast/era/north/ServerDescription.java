package dev.holdfast.era.north;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.protocol.ClientCapabilities;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.JsonRpcMessages;
import dev.holdfast.protocol.MetaKeys;
import dev.holdfast.protocol.RequestId;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A server, as it describes itself when a session is opened.
 *
 * @param capabilities raw JSON object
 * @param serverInfo raw JSON object
 * @param instructions raw JSON string; null if there are none
 */
record ServerDescription(String capabilities, String serverInfo, @Nullable String instructions) {

  /** Of a server whose session another replica has opened. */
  static final ServerDescription UNKNOWN = new ServerDescription("{}", "{}", null);

  /** Reads the result of {@code initialize}. */
  static ServerDescription read(byte[] response) {
    byte[] result =
        Objects.requireNonNullElse(JsonEdit.raw(response, "result"), "{}").getBytes(UTF_8);
    return new ServerDescription(
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

  /**
   * The response to {@code server/discover}.
   *
   * @param tasks whether the gateway makes tasks of calls
   */
  byte[] toResponse(String id, boolean tasks) {
    JsonEdit response =
        new JsonEdit()
            .set("\"complete\"", "resultType")
            .set(StatelessRules.versions(true), "supportedVersions")
            .set(capabilities(tasks), "capabilities")
            .set(serverInfo, "_meta", MetaKeys.SERVER_INFO)
            .set("0", "ttlMs")
            .set("\"private\"", "cacheScope");
    if (instructions != null) {
      response.set(instructions, "instructions");
    }
    return JsonRpcMessages.result(new RequestId(id), response.toJson());
  }

  /** Without the tasks of earlier revisions. */
  private String capabilities(boolean tasks) {
    JsonEdit edit = new JsonEdit().remove("tasks");
    if (tasks) {
      edit.set("{}", "extensions", ClientCapabilities.TASKS);
    }
    return edit.apply(capabilities);
  }
}
