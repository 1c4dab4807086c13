package dev.holdfast.intercept;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.intercept.InterceptedMessage.Direction;
import dev.holdfast.protocol.Body;
import dev.holdfast.protocol.Envelopes;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AmbiguousNamesTest {

  private static Verdict judge(String json, Direction direction) {
    return new AmbiguousNames()
        .judge(
            new InterceptedMessage(
                ((Body.Single) Envelopes.read(json.getBytes(UTF_8))).message(),
                direction,
                "u",
                "s",
                null,
                Set.of(),
                null));
  }

  /** Go's {@code encoding/json} calls the tool danger, whatever the rules have read. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        """
        {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","Name":"danger"}}
        """,
        """
        {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"Name":"danger"}}
        """,
        """
        {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read"},\
        "Params":{"name":"danger"}}
        """,
        """
        {"jsonrpc":"2.0","id":1,"method":"ping","METHOD":"tools/call","params":{"name":"danger"}}
        """,
        """
        {"jsonrpc":"2.0","id":1,"Method":"tools/call","method":"ping","param\u017f":{}}
        """,
        """
        {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read"},\
        "param\\u017f":{"name":"danger"}}
        """,
        """
        {"jsonrpc":"2.0","id":1,"method":"ping","to\u212aen":1,"token":1}
        """,
        """
        {"jsonrpc":"2.0","method":"notifications/initialized","Id":1,"x":{}}
        """,
        """
        {"jsonrpc":"2.0","id":1,"result":{},"Method":"tools/call"}
        """,
        """
        {"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"ProgressToken":1}}}
        """
      })
  void shouldRefuseWhatServersMayReadInAnotherWay(String json) {
    assertThat(judge(json, Direction.TO_SERVER))
        .isInstanceOfSatisfying(
            Verdict.Refuse.class, refusal -> assertThat(refusal.code()).isEqualTo(-32600));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        """
        {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":\
        {"a":1,"A":2,"Name":"x"},"_meta":{"progressToken":1,"Name":"y"}},"x":{"Id":1,"id":2}}
        """,
        """
        {"jsonrpc":"2.0","id":1,"method":"ping","params":["Name","name"]}
        """,
        """
        {"jsonrpc":"2.0","id":1,"result":{"Name":1,"name":2}}
        """
      })
  void shouldLeaveAlone(String json) {
    assertThat(judge(json, Direction.TO_SERVER)).isEqualTo(Verdict.PASS);
  }

  /** What servers send is not judged by name. */
  @ParameterizedTest
  @ValueSource(strings = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"Result\":{}}")
  void shouldNotJudgeServers(String json) {
    assertThat(judge(json, Direction.TO_CLIENT)).isEqualTo(Verdict.PASS);
  }
}
