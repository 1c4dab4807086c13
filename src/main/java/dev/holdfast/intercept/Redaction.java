package dev.holdfast.intercept;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Replaces values in the results of servers, before they are logged and delivered. */
public final class Redaction implements Interceptor {

  private static final JsonNode REDACTED = TextNode.valueOf("[redacted]");
  private static final String ANY = "*";

  /** The reference tokens of each pointer. */
  private final List<List<String>> pointers;

  /**
   * Creates the rule.
   *
   * @param pointers JSON pointers (RFC 6901) into {@code result}; a token {@code *} stands for all
   *     elements or members
   * @throws IllegalArgumentException if one does not begin with a slash, or has an invalid escape
   */
  public Redaction(List<String> pointers) {
    this.pointers = pointers.stream().map(Redaction::parse).toList();
  }

  private static List<String> parse(String pointer) {
    if (!pointer.startsWith("/") || pointer.matches(".*~([^01].*|$)")) {
      throw new IllegalArgumentException(
          "redact must be JSON pointers, such as /content/*/text, not " + pointer);
    }
    return Stream.of(pointer.substring(1).split("/", -1))
        .map(token -> token.replace("~1", "/").replace("~0", "~"))
        .toList();
  }

  @Override
  public Verdict judge(InterceptedMessage message) {
    if (!message.isResult()) {
      return Verdict.PASS;
    }
    JsonNode response = MessageJson.read(message.message().bytes());
    boolean changed = false;
    for (List<String> pointer : pointers) {
      changed |= redact(response.path("result"), pointer);
    }
    return changed ? new Verdict.Replace(MessageJson.write(response)) : Verdict.PASS;
  }

  private static boolean redact(JsonNode parent, List<String> pointer) {
    String token = pointer.getFirst();
    List<String> rest = pointer.subList(1, pointer.size());
    boolean changed = false;
    for (String name : token.equals(ANY) ? names(parent) : List.of(token)) {
      JsonNode child = child(parent, name);
      if (!rest.isEmpty()) {
        changed |= redact(child, rest);
      } else if (!child.isMissingNode() && !child.equals(REDACTED)) {
        replace(parent, name);
        changed = true;
      }
    }
    return changed;
  }

  private static List<String> names(JsonNode parent) {
    return switch (parent) {
      case ObjectNode object -> object.propertyStream().map(Map.Entry::getKey).toList();
      case ArrayNode array -> IntStream.range(0, array.size()).mapToObj(Integer::toString).toList();
      default -> List.of();
    };
  }

  private static JsonNode child(JsonNode parent, String name) {
    return parent instanceof ArrayNode array
        ? array.path(name.matches("0|[1-9]\\d{0,8}") ? Integer.parseInt(name) : -1)
        : parent.path(name);
  }

  private static void replace(JsonNode parent, String name) {
    switch (parent) {
      case ObjectNode object -> object.set(name, REDACTED);
      case ArrayNode array -> array.set(Integer.parseInt(name), REDACTED);
      default -> throw new IllegalStateException("a value has no children");
    }
  }
}
