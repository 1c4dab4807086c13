package dev.holdfast.era.north;

import java.util.Map;
import java.util.Set;

/** Methods of revision 2026-07-28, and what differs between them. */
final class StatelessMethods {

  /** Parameter that {@code Mcp-Name} repeats, by method. */
  static final Map<String, String> NAMED =
      Map.of(
          "tools/call", "name",
          "prompts/get", "name",
          "resources/read", "uri",
          "tasks/get", "taskId",
          "tasks/update", "taskId",
          "tasks/cancel", "taskId");

  /** Capabilities of servers with sessions, by the methods that need them. */
  static final Map<String, String> CAPABILITIES =
      Map.of(
          "tools/list", "tools",
          "tools/call", "tools",
          "prompts/list", "prompts",
          "prompts/get", "prompts",
          "resources/list", "resources",
          "resources/templates/list", "resources",
          "resources/read", "resources",
          "completion/complete", "completions");

  /** Methods whose results clients may cache. */
  static final Set<String> CACHEABLE =
      Set.of(
          "server/discover",
          "tools/list",
          "prompts/list",
          "resources/list",
          "resources/templates/list",
          "resources/read");

  /** Methods to which a server may answer with requests of its own. */
  static final Set<String> ASKING = Set.of("tools/call", "prompts/get", "resources/read");

  /** Methods of earlier revisions. */
  static final Set<String> REMOVED =
      Set.of(
          "initialize",
          "ping",
          "logging/setLevel",
          "resources/subscribe",
          "resources/unsubscribe",
          "tasks/list",
          "tasks/result");

  private StatelessMethods() {}
}
