package dev.holdfast.era.north;

import dev.holdfast.protocol.Methods;
import java.util.Map;
import java.util.Set;

/** Methods of revision 2026-07-28, and what differs between them. */
final class StatelessMethods {

  /** Capabilities of servers with sessions, by the methods that need them. */
  static final Map<String, String> CAPABILITIES =
      Map.of(
          Methods.TOOLS_LIST,
          "tools",
          Methods.TOOLS_CALL,
          "tools",
          "prompts/list",
          "prompts",
          Methods.PROMPTS_GET,
          "prompts",
          "resources/list",
          "resources",
          "resources/templates/list",
          "resources",
          Methods.RESOURCES_READ,
          "resources",
          "completion/complete",
          "completions");

  /** Methods whose results clients may cache. */
  static final Set<String> CACHEABLE =
      Set.of(
          Methods.SERVER_DISCOVER,
          Methods.TOOLS_LIST,
          "prompts/list",
          "resources/list",
          "resources/templates/list",
          Methods.RESOURCES_READ);

  /** Methods to which a server may answer with requests of its own. */
  static final Set<String> ASKING =
      Set.of(Methods.TOOLS_CALL, Methods.PROMPTS_GET, Methods.RESOURCES_READ);

  /** Methods of earlier revisions. */
  static final Set<String> REMOVED =
      Set.of(
          Methods.INITIALIZE,
          Methods.PING,
          Methods.SET_LEVEL,
          Methods.RESOURCES_SUBSCRIBE,
          Methods.RESOURCES_UNSUBSCRIBE,
          "tasks/list",
          "tasks/result");

  private StatelessMethods() {}
}
