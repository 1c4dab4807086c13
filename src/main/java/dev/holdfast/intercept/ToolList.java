package dev.holdfast.intercept;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import dev.holdfast.protocol.Methods;
import java.util.Iterator;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The results of {@code tools/list}. */
final class ToolList {

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
      if (hidden.test(each.next().path("name").asText())) {
        each.remove();
      }
    }
    return tools.size() == before ? Verdict.PASS : new Verdict.Replace(MessageJson.write(response));
  }
}
