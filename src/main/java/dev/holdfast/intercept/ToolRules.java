package dev.holdfast.intercept;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import dev.holdfast.budget.LogRate;
import dev.holdfast.call.Caller;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import dev.holdfast.text.NamePatterns;
import java.time.Duration;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Hides tools, and tools whose scope a client lacks: they are missing from the list of tools, and
 * calls are refused. The call of a hidden tool gets the error of an unknown tool (MCP 2025-11-25,
 * Tools, Error Handling). Several scopes may name one tool: then one of them is enough.
 */
public final class ToolRules implements Interceptor {

  private static final Logger LOG = Logger.getLogger(ToolRules.class);
  private static final LogRate LONG_NAMES = new LogRate(Duration.ofMinutes(1));

  /** Names of tools have at most 128 characters (MCP 2025-11-25, Tools, Tool Names). */
  static final int LONGEST_NAME = 256;

  private final @Nullable NamePatterns allowed;
  private final @Nullable NamePatterns denied;
  private final Map<String, NamePatterns> byScope = new TreeMap<>();
  private final BiConsumer<InterceptedMessage, String> onDenial;

  /**
   * Creates the rules. In patterns of names, {@code *} stands for any characters.
   *
   * @param allow patterns of tools; empty for all tools
   * @param deny patterns of tools that are hidden even if they are allowed
   * @param byScope patterns of tools that only clients with a scope may see and call, by scope
   * @param onDenial gets refused calls with the reason, for people; must not block
   */
  public ToolRules(
      List<String> allow,
      List<String> deny,
      Map<String, List<String>> byScope,
      BiConsumer<InterceptedMessage, String> onDenial) {
    this.onDenial = onDenial;
    this.allowed = allow.isEmpty() ? null : NamePatterns.of(allow);
    this.denied = deny.isEmpty() ? null : NamePatterns.of(deny);
    byScope.forEach((scope, tools) -> this.byScope.put(scope, NamePatterns.of(tools)));
  }

  @Override
  public Set<String> namedScopes() {
    return Collections.unmodifiableSet(byScope.keySet());
  }

  @Override
  public Verdict judge(InterceptedMessage message) {
    if (message.message() instanceof Message.Request call
        && call.method().equals(Methods.TOOLS_CALL)) {
      return judgeCall(message, call.toolName());
    }
    // A replica that continues a request of a lost one does not know its method.
    String method = message.method();
    return message.isResult() && (method == null || method.equals(Methods.TOOLS_LIST))
        ? withoutHidden(message)
        : Verdict.PASS;
  }

  private Verdict judgeCall(InterceptedMessage call, @Nullable String tool) {
    if (tool == null || isHidden(tool)) {
      boolean hides = allowed != null || denied != null;
      onDenial.accept(call, hides ? "the tool is hidden" : "the call names no tool");
      return new Verdict.Refuse(JsonRpcErrorCode.INVALID_PARAMS, "Unknown tool: " + tool);
    }
    Set<String> lacking = lacking(tool, call.scopes());
    if (lacking.isEmpty()) {
      return Verdict.PASS;
    }
    onDenial.accept(call, "the scope is missing: " + String.join(" or ", lacking));
    String needed = lacking.size() == 1 ? "the scope " : "one of the scopes ";
    return new Verdict.Refuse(
        JsonRpcErrorCode.SERVER_ERROR.code(),
        "The tool " + tool + " needs " + needed + String.join(", ", lacking),
        Map.of("scope", Caller.format(lacking)));
  }

  private boolean isHidden(String tool) {
    return (allowed != null && !allowed.match(tool)) || (denied != null && denied.match(tool));
  }

  /** Returns the scopes of which one is needed for a tool; empty if it may be called. */
  private Set<String> lacking(String tool, Set<String> scopes) {
    Set<String> needed = new TreeSet<>();
    byScope.forEach((scope, tools) -> {
      if (tools.match(tool)) {
        needed.add(scope);
      }
    });
    return Collections.disjoint(needed, scopes) ? needed : Set.of();
  }

  /** Removes tools from the result of {@code tools/list}. */
  private Verdict withoutHidden(InterceptedMessage message) {
    JsonNode response = MessageJson.read(message.message().bytes());
    if (!(response.path("result").path("tools") instanceof ArrayNode tools)) {
      return Verdict.PASS;
    }
    int before = tools.size();
    for (Iterator<JsonNode> each = tools.iterator(); each.hasNext(); ) {
      String name = each.next().path("name").asText();
      if (name.length() > LONGEST_NAME) {
        LONG_NAMES.warn(
            LOG,
            "tool with a long name left out of a list upstream=%s characters=%s",
            message.upstream(),
            name.length());
        each.remove();
      } else if (isHidden(name) || !lacking(name, message.scopes()).isEmpty()) {
        each.remove();
      }
    }
    return tools.size() == before ? Verdict.PASS : new Verdict.Replace(MessageJson.write(response));
  }
}
