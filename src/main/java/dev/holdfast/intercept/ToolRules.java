package dev.holdfast.intercept;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.protocol.Message;
import dev.holdfast.protocol.Methods;
import java.util.Iterator;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Hides tools: they are missing from the list of tools, and a call gets the error of an unknown
 * tool (MCP 2025-11-25, Tools, Error Handling).
 */
public final class ToolRules implements Interceptor {

  private final @Nullable Pattern allowed;
  private final @Nullable Pattern denied;

  /**
   * Creates the rules.
   *
   * @param allow patterns of names, where {@code *} stands for any characters; empty for all tools
   * @param deny patterns of names that are hidden even if they are allowed
   */
  public ToolRules(List<String> allow, List<String> deny) {
    this.allowed = pattern(allow);
    this.denied = pattern(deny);
  }

  private static @Nullable Pattern pattern(List<String> names) {
    return names.isEmpty()
        ? null
        : Pattern.compile(
            names.stream().map(ToolRules::pattern).collect(Collectors.joining("|")),
            Pattern.DOTALL);
  }

  private static String pattern(String name) {
    return Stream.of(name.split("\\*", -1)).map(Pattern::quote).collect(Collectors.joining(".*"));
  }

  private boolean isHidden(String tool) {
    return (allowed != null && !allowed.matcher(tool).matches())
        || (denied != null && denied.matcher(tool).matches());
  }

  @Override
  public Verdict judge(InterceptedMessage message) {
    if (message.message() instanceof Message.Request call
        && call.method().equals(Methods.TOOLS_CALL)) {
      String tool = call.toolName();
      return tool == null || isHidden(tool)
          ? new Verdict.Refuse(JsonRpcErrorCode.INVALID_PARAMS, "Unknown tool: " + tool)
          : Verdict.PASS;
    }
    return message.isResult() && mayListTools(message.method()) ? hide(message) : Verdict.PASS;
  }

  /** A replica that continues a request of a lost one does not know its method. */
  private static boolean mayListTools(@Nullable String method) {
    return method == null || method.equals(Methods.TOOLS_LIST);
  }

  private Verdict hide(InterceptedMessage message) {
    JsonNode response = MessageJson.read(message.message().bytes());
    if (!(response.path("result").path("tools") instanceof ArrayNode tools)) {
      return Verdict.PASS;
    }
    int before = tools.size();
    for (Iterator<JsonNode> each = tools.iterator(); each.hasNext(); ) {
      if (isHidden(each.next().path("name").asText())) {
        each.remove();
      }
    }
    return tools.size() == before ? Verdict.PASS : new Verdict.Replace(MessageJson.write(response));
  }
}
