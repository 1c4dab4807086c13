package dev.holdfast.intercept;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import dev.holdfast.budget.LogRate;
import dev.holdfast.protocol.Methods;
import java.time.Duration;
import java.util.Iterator;
import java.util.function.Predicate;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/** The results of {@code tools/list}. */
final class ToolList {

  private static final Logger LOG = Logger.getLogger(ToolList.class);
  private static final LogRate LONG_NAMES = new LogRate(Duration.ofMinutes(1));

  /** Names of tools have at most 128 characters (MCP 2025-11-25, Tools, Tool Names). */
  static final int LONGEST_NAME = 256;

  private ToolList() {}

  /** Removes tools from a message if it is a list of tools. */
  static Verdict without(InterceptedMessage message, Predicate<String> hidden) {
    return message.isResult() && mayListTools(message.method())
        ? removed(message, hidden)
        : Verdict.PASS;
  }

  /** A replica that continues a request of a lost one does not know its method. */
  private static boolean mayListTools(@Nullable String method) {
    return method == null || method.equals(Methods.TOOLS_LIST);
  }

  private static Verdict removed(InterceptedMessage message, Predicate<String> hidden) {
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
      } else if (hidden.test(name)) {
        each.remove();
      }
    }
    return tools.size() == before ? Verdict.PASS : new Verdict.Replace(MessageJson.write(response));
  }
}
