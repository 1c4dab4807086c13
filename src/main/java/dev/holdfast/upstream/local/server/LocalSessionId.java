package dev.holdfast.upstream.local.server;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.protocol.ProtocolVersion;
import dev.holdfast.upstream.local.Client;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * The name of a session with a local server. It includes facts about the client, so every replica
 * knows them without a store. Clients never see it.
 *
 * @param isForStateless true if the session is of the gateway, for requests without one (MCP
 *     2026-07-28)
 */
record LocalSessionId(String name, Client.Capabilities capabilities, boolean isForStateless) {

  private static final char SEPARATOR = '.';
  private static final String ELICITATION = "e";
  private static final String SAMPLING = "s";
  private static final String ROOTS = "r";
  private static final String STATELESS = "n";
  private static final Pattern NAME = Pattern.compile("[0-9a-f-]{36}\\.[a-z]*");

  /**
   * Creates a name.
   *
   * @param version {@code params.protocolVersion} of {@code initialize}
   * @param declared {@code params.capabilities}
   */
  static LocalSessionId create(String version, JsonNode declared) {
    JsonNode elicitation = declared.path("elicitation");
    // Before 2025-11-25 there were only forms, and no modes to declare.
    boolean forms = elicitation.isObject() && (elicitation.has("form") || !elicitation.has("url"));
    boolean sampling = declared.path("sampling").isObject();
    boolean roots = declared.path("roots").isObject();
    boolean stateless = ProtocolVersion.V2026_07_28.wire().equals(version);
    String flags =
        (forms ? ELICITATION : "")
            + (sampling ? SAMPLING : "")
            + (roots ? ROOTS : "")
            + (stateless ? STATELESS : "");
    return new LocalSessionId(
        UUID.randomUUID().toString() + SEPARATOR + flags,
        new Client.Capabilities(forms, sampling, roots),
        stateless);
  }

  /** Returns true if {@link #create} on any replica may have created the name. */
  static boolean isName(String name) {
    return NAME.matcher(name).matches();
  }

  static LocalSessionId parse(String name) {
    int separator = name.lastIndexOf(SEPARATOR);
    String flags = separator < 0 ? "" : name.substring(separator + 1);
    return new LocalSessionId(
        name,
        new Client.Capabilities(
            flags.contains(ELICITATION), flags.contains(SAMPLING), flags.contains(ROOTS)),
        flags.contains(STATELESS));
  }
}
