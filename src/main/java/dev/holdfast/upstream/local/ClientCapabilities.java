package dev.holdfast.upstream.local;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * What a client declared that it can be asked for.
 *
 * @param elicitation whether it shows forms to people
 * @param sampling whether it has a model to ask
 * @param roots whether it tells which files and folders it works on
 * @see <a
 *     href="https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#capability-negotiation">MCP
 *     2025-11-25, Lifecycle, Capability Negotiation</a>
 */
public record ClientCapabilities(boolean elicitation, boolean sampling, boolean roots) {

  static final ClientCapabilities NONE = new ClientCapabilities(false, false, false);

  private static final String ELICITATION = "e";
  private static final String SAMPLING = "s";
  private static final String ROOTS = "r";

  /** Reads {@code params.capabilities} of {@code initialize}. */
  static ClientCapabilities read(JsonNode json) {
    JsonNode elicitation = json.path("elicitation");
    // Whoever names no mode means forms: there was nothing else before 2025-11-25.
    boolean forms = elicitation.isObject() && (elicitation.has("form") || !elicitation.has("url"));
    return new ClientCapabilities(
        forms, json.path("sampling").isObject(), json.path("roots").isObject());
  }

  /** As letters, for the name of a session. */
  String letters() {
    return (elicitation ? ELICITATION : "") + (sampling ? SAMPLING : "") + (roots ? ROOTS : "");
  }

  static ClientCapabilities ofLetters(String letters) {
    return new ClientCapabilities(
        letters.contains(ELICITATION), letters.contains(SAMPLING), letters.contains(ROOTS));
  }
}
