package dev.holdfast.era.north;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.protocol.JsonEdit;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.MetaKeys;
import dev.holdfast.protocol.Methods;
import dev.holdfast.protocol.Sha256;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A request of revision 2026-07-28, with the parameters that tell of the client.
 *
 * @param members raw JSON of the members of {@code params} and {@code _meta} that the gateway uses
 * @param digest hash of all other parameters; empty if no retry can need it
 */
record StatelessRequest(Message.Request message, Map<String, String> members, byte[] digest) {

  private static final String STATE = "requestState";
  private static final String RESPONSES = "inputResponses";
  private static final String NOTIFICATIONS = "notifications";

  private static final Set<String> OF_PARAMS = Set.of(STATE, RESPONSES, NOTIFICATIONS);

  /** Members of {@code _meta} that no server of an earlier revision gets. */
  static final Set<String> OF_META =
      Set.of(
          MetaKeys.PROTOCOL_VERSION,
          MetaKeys.CLIENT_CAPABILITIES,
          MetaKeys.CLIENT_INFO,
          MetaKeys.LOG_LEVEL);

  private static final int HASH_BYTES = 32;

  /** Reads the parameters. */
  static StatelessRequest read(Message.Request message) {
    Map<String, String> members = new HashMap<>();
    byte[] digest = new byte[StatelessMethods.ASKING.contains(message.method()) ? HASH_BYTES : 0];
    byte[] json = message.bytes();
    String named = Methods.nameParameter(message.method());
    JsonEdit.forEachMember(
        json,
        (name, from, to) -> {
          int length = to - from;
          if (name.equals("_meta")) {
            Map<String, String> meta = JsonEdit.members(new String(json, from, length, UTF_8));
            meta.keySet().retainAll(OF_META);
            members.putAll(meta);
            return;
          }
          if (OF_PARAMS.contains(name) || name.equals(named)) {
            members.put(name, new String(json, from, length, UTF_8));
          }
          if (digest.length > 0 && !name.equals(STATE) && !name.equals(RESPONSES)) {
            addTo(digest, name, json, from, length);
          }
        },
        "params");
    return new StatelessRequest(message, members, digest);
  }

  /** Adds a member. The sum does not depend on the order of the members. */
  private static void addTo(byte[] digest, String name, byte[] json, int from, int length) {
    MessageDigest hash = Sha256.begin();
    hash.update(name.getBytes(UTF_8));
    hash.update((byte) 0);
    hash.update(json, from, length);
    byte[] sum = hash.digest();
    for (int i = 0; i < digest.length; i++) {
      digest[i] += sum[i];
    }
  }

  String method() {
    return message.method();
  }

  /** The value of the parameter that {@code Mcp-Name} repeats; null if there is none. */
  @Nullable String name() {
    String parameter = Methods.nameParameter(method());
    return parameter == null ? null : JsonEdit.text(members.get(parameter));
  }

  /** The capabilities of the client, as a raw JSON object. */
  String capabilities() {
    return members.getOrDefault(MetaKeys.CLIENT_CAPABILITIES, "{}");
  }

  /** A short name for the capabilities. */
  String capabilitiesDigest() {
    byte[] digest = Sha256.of(capabilities().getBytes(UTF_8));
    return Base64.getEncoder().encodeToString(digest);
  }

  boolean hasCapabilities() {
    return capabilities().startsWith("{") && members.containsKey(MetaKeys.CLIENT_CAPABILITIES);
  }

  /** Name and version of the client, as a raw JSON object. */
  String clientInfo() {
    String info = members.get(MetaKeys.CLIENT_INFO);
    return info != null && info.startsWith("{") ? info : "{\"name\":\"unknown\",\"version\":\"0\"}";
  }

  /** The level of the log messages that the client wants; null for none. */
  @Nullable String logLevel() {
    return JsonEdit.text(members.get(MetaKeys.LOG_LEVEL));
  }

  /** The state that a retry brings back; null if it is the first round. */
  @Nullable String requestState() {
    return JsonEdit.text(members.get(STATE));
  }

  /** Answers of the client by key, as a raw JSON object. */
  byte[] inputResponses() {
    return members.getOrDefault(RESPONSES, "{}").getBytes(UTF_8);
  }

  /** The filter of a subscription, as a raw JSON object; null if it is missing. */
  @Nullable String notifications() {
    return members.get(NOTIFICATIONS);
  }
}
