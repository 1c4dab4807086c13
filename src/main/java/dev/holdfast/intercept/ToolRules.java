package dev.holdfast.intercept;

import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Hides tools: they are missing from the list of tools, and a call gets the error of an unknown
 * tool (MCP 2025-11-25, Tools, Error Handling).
 */
public final class ToolRules implements Interceptor {

  private final @Nullable NamePatterns allowed;
  private final @Nullable NamePatterns denied;
  private final ToolDenials denials;

  /**
   * Creates the rules.
   *
   * @param allow patterns of names, where {@code *} stands for any characters; empty for all tools
   * @param deny patterns of names that are hidden even if they are allowed
   * @param denials hears of refused calls
   */
  public ToolRules(List<String> allow, List<String> deny, ToolDenials denials) {
    this.denials = denials;
    this.allowed = allow.isEmpty() ? null : NamePatterns.of(allow);
    this.denied = deny.isEmpty() ? null : NamePatterns.of(deny);
  }

  private boolean isHidden(String tool) {
    return (allowed != null && !allowed.match(tool)) || (denied != null && denied.match(tool));
  }

  @Override
  public Verdict judge(InterceptedMessage message) {
    if (message.message() instanceof Message.Request call
        && call.method().equals(Methods.TOOLS_CALL)) {
      String tool = call.toolName();
      if (tool != null && !isHidden(tool)) {
        return Verdict.PASS;
      }
      denials.denied(message, "the tool is hidden");
      return new Verdict.Refuse(JsonRpcErrorCode.INVALID_PARAMS, "Unknown tool: " + tool);
    }
    return ToolList.without(message, this::isHidden);
  }
}
