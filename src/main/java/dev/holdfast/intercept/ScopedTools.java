package dev.holdfast.intercept;

import dev.holdfast.call.Caller;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Tools that need a scope. Clients without it do not find them in the list of tools, and their
 * calls are refused. Several scopes may name one tool: then one of them is enough.
 */
public final class ScopedTools implements Interceptor {

  private final Map<String, NamePatterns> toolsByScope = new TreeMap<>();

  private final ToolDenials denials;

  /**
   * Creates the rules.
   *
   * @param toolsByScope patterns of names by scope, where {@code *} stands for any characters
   * @param denials hears of refused calls
   */
  public ScopedTools(Map<String, List<String>> toolsByScope, ToolDenials denials) {
    this.denials = denials;
    toolsByScope.forEach((scope, tools) -> this.toolsByScope.put(scope, NamePatterns.of(tools)));
  }

  @Override
  public Set<String> namedScopes() {
    return Collections.unmodifiableSet(toolsByScope.keySet());
  }

  @Override
  public Verdict judge(InterceptedMessage message) {
    return switch (message.message()) {
      case Message.Request call when call.method().equals(Methods.TOOLS_CALL) ->
          judgeCall(message, call.toolName());
      default -> ToolList.without(message, tool -> !lacking(tool, message.scopes()).isEmpty());
    };
  }

  private Verdict judgeCall(InterceptedMessage call, @Nullable String tool) {
    if (tool == null) {
      denials.denied(call, "the call names no tool");
      return new Verdict.Refuse(JsonRpcErrorCode.INVALID_PARAMS, "Unknown tool: null");
    }
    Set<String> lacking = lacking(tool, call.scopes());
    if (lacking.isEmpty()) {
      return Verdict.PASS;
    }
    String needed = lacking.size() == 1 ? "the scope " : "one of the scopes ";
    return refuse(
        call, "The tool " + tool + " needs " + needed + String.join(", ", lacking), lacking);
  }

  private Verdict.Refuse refuse(InterceptedMessage call, String text, Set<String> scopes) {
    denials.denied(call, "the scope is missing: " + String.join(" or ", new TreeSet<>(scopes)));
    return new Verdict.Refuse(
        JsonRpcErrorCode.SERVER_ERROR.code(), text, Map.of("scope", Caller.format(scopes)));
  }

  /** The scopes of which one is needed for a tool; empty if it may be called. */
  private Set<String> lacking(String tool, Set<String> scopes) {
    Set<String> needed = new TreeSet<>();
    toolsByScope.forEach((scope, tools) -> {
      if (tools.match(tool)) {
        needed.add(scope);
      }
    });
    return Collections.disjoint(needed, scopes) ? needed : Set.of();
  }
}
