package dev.holdfast.era.south;

import dev.holdfast.protocol.ClientCapabilities;
import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.MetaKeys;
import dev.holdfast.protocol.ProtocolVersion;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A client with a session, as a server without sessions must be told with each request. The link of
 * the session keeps all of it, so that every replica knows it.
 *
 * @param session name of the session, in no other use
 * @param capabilities raw JSON, as 2026-07-28 defines it
 * @param info {@code clientInfo}, raw JSON
 * @param channel what the upstream calls its process for the session; null if it needs none
 */
record ClientFacts(String session, String capabilities, String info, @Nullable String channel) {

  /** Marks our session ids. Ids of servers have no spaces (MCP 2025-11-25, Transports). */
  private static final String PREFIX = "stateless ";

  private static final int MAX_LENGTH = 2048;
  private static final int MAX_NAME = 100;

  /** Reads the parameters of {@code initialize}. Leaves out what would be too long to keep. */
  static ClientFacts of(Message.Request initialize) {
    Map<String, String> declared =
        JsonEdit.members(JsonEdit.raw(initialize.bytes(), "params", "capabilities"));
    Map<String, String> kept = new LinkedHashMap<>();
    if (declared.containsKey("roots")) {
      kept.put("roots", "{}");
    }
    keep(declared, "sampling", kept);
    keep(declared, "elicitation", kept);
    // Before 2025-11-25 there were only forms.
    if (JsonEdit.members(kept.get("elicitation")).isEmpty()) {
      kept.computeIfPresent("elicitation", (_, _) -> "{\"form\":{}}");
    }
    Map<String, String> extensions = JsonEdit.members(declared.get("extensions"));
    if (extensions.remove(ClientCapabilities.TASKS) != null || !extensions.isEmpty()) {
      declared.put("extensions", object(extensions));
      keep(declared, "extensions", kept);
    }
    keep(declared, "experimental", kept);
    Map<String, String> info = new LinkedHashMap<>();
    for (String name : Stream.of("name", "version", "title").toList()) {
      String json = JsonEdit.raw(initialize.bytes(), "params", "clientInfo", name);
      String text = JsonEdit.text(json);
      if (text != null) {
        info.put(name, JsonEdit.quote(text.substring(0, Math.min(text.length(), MAX_NAME))));
      } else if (!name.equals("title")) {
        info.put(name, "\"\"");
      }
    }
    byte[] random = new byte[12];
    ThreadLocalRandom.current().nextBytes(random);
    return new ClientFacts(HexFormat.of().formatHex(random), object(kept), object(info), null);
  }

  /** The same client with a process of the server. */
  ClientFacts at(@Nullable String started) {
    return new ClientFacts(session, capabilities, info, started);
  }

  /** The same client with tasks, which the gateway handles for it. */
  ClientFacts withTasks() {
    String extended =
        new JsonEdit().set("{}", "extensions", ClientCapabilities.TASKS).apply(capabilities);
    return new ClientFacts(session, extended, info, channel);
  }

  /** The rest of the link is at most 1 kB: three names of 100 characters, which JSON may escape. */
  private static void keep(Map<String, String> from, String name, Map<String, String> kept) {
    String value = from.get(name);
    if (value != null && object(kept).length() + value.length() < MAX_LENGTH / 4) {
      kept.put(name, value);
    }
  }

  private static String object(Map<String, String> members) {
    return members.entrySet().stream()
        .map(each -> JsonEdit.quote(each.getKey()) + ":" + each.getValue())
        .collect(Collectors.joining(",", "{", "}"));
  }

  /** Returns what a link calls the session. */
  String format() {
    Map<String, String> members = new LinkedHashMap<>();
    members.put("s", JsonEdit.quote(session));
    members.put("c", capabilities);
    members.put("i", info);
    if (channel != null) {
      members.put("p", JsonEdit.quote(channel));
    }
    return PREFIX + object(members);
  }

  /** Reads what {@link #format} returned; null if the session is another one. */
  static @Nullable ClientFacts parse(@Nullable String link) {
    if (link == null || !link.startsWith(PREFIX)) {
      return null;
    }
    Map<String, String> members = JsonEdit.members(link.substring(PREFIX.length()));
    return new ClientFacts(
        String.valueOf(JsonEdit.text(members.get("s"))),
        members.getOrDefault("c", "{}"),
        members.getOrDefault("i", "{}"),
        JsonEdit.text(members.get("p")));
  }

  /** The capabilities of the client. */
  ClientCapabilities declared() {
    return new ClientCapabilities(capabilities);
  }

  /**
   * Returns the edit that makes a request of the client one of 2026-07-28. State for the server can
   * come only from an answer. A client that asks for a task gets the result of the call.
   *
   * @param logLevel the least severe log messages that the client wants; null for none
   */
  JsonEdit edit(@Nullable String logLevel) {
    JsonEdit edit =
        new JsonEdit()
            .set(
                JsonEdit.quote(ProtocolVersion.V2026_07_28.wire()),
                "params",
                "_meta",
                MetaKeys.PROTOCOL_VERSION)
            .set(capabilities, "params", "_meta", MetaKeys.CLIENT_CAPABILITIES)
            .set(info, "params", "_meta", MetaKeys.CLIENT_INFO)
            .remove("params", "task")
            .remove("params", "inputResponses")
            .remove("params", "requestState");
    return logLevel == null
        ? edit.remove("params", "_meta", MetaKeys.LOG_LEVEL)
        : edit.set(JsonEdit.quote(logLevel), "params", "_meta", MetaKeys.LOG_LEVEL);
  }
}
