package dev.holdfast.intercept;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.holdfast.intercept.InterceptedMessage.Direction;
import dev.holdfast.protocol.JsonRpcErrorCode;
import dev.holdfast.text.NamePatterns;
import java.io.IOException;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Refuses messages that a server may read differently from the interceptors. Some servers match the
 * names of members without regard to case, such as those that use {@code encoding/json} of Go. A
 * rule would then check {@code name}, and the server would use {@code Name}.
 */
public final class AmbiguousNames implements Interceptor {

  private static final Members MESSAGE =
      Members.of("jsonrpc", "id", "method", "params", "result", "error");
  private static final Map<String, Members> BELOW =
      Map.of(
          "params", Members.of("name", "arguments", "_meta", "uri", "requestId", "progressToken"),
          "_meta", Members.of("progressToken"));

  /** The names that the specification gives to members of an object. */
  private record Members(Set<String> names, Set<String> folded) {

    static Members of(String... names) {
      return new Members(
          Set.of(names), Stream.of(names).map(NamePatterns::fold).collect(Collectors.toSet()));
    }

    boolean imitates(String name, String itsFold) {
      return folded.contains(itsFold) && !names.contains(name);
    }
  }

  @Override
  public Verdict judge(InterceptedMessage message) {
    if (message.direction() == Direction.TO_CLIENT) {
      return Verdict.PASS;
    }
    try (JsonParser json = MessageJson.parser(message.message().bytes())) {
      json.nextToken();
      return isAmbiguous(json, MESSAGE)
          ? new Verdict.Refuse(
              JsonRpcErrorCode.INVALID_REQUEST,
              "Invalid Request: the name of a member differs only in case from another one, or from"
                  + " one of the specification")
          : Verdict.PASS;
    } catch (IOException invalid) {
      return new Verdict.Refuse(JsonRpcErrorCode.INVALID_REQUEST, "Invalid Request");
    }
  }

  /** Reads an object, whose begin is the current token. */
  private static boolean isAmbiguous(JsonParser json, Members members) throws IOException {
    Set<String> seen = new HashSet<>();
    String name;
    while ((name = json.nextFieldName()) != null) {
      String folded = NamePatterns.fold(name);
      if (!seen.add(folded) || members.imitates(name, folded)) {
        return true;
      }
      Members below = BELOW.get(name);
      if (json.nextToken() != JsonToken.START_OBJECT || below == null) {
        json.skipChildren();
      } else if (isAmbiguous(json, below)) {
        return true;
      }
    }
    return false;
  }
}
