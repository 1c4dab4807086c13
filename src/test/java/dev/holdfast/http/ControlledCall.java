package dev.holdfast.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.Frame;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.McpClient;
import java.util.UUID;

/** A running call of the {@link ControlledTool}, and its stream. */
record ControlledCall(ControlledTool tool, String key, FrameStream stream) {

  /** Starts a call and waits for its first message, event number 1. */
  static ControlledCall start(McpClient client, ControlledTool tool) {
    String key = UUID.randomUUID().toString();
    FrameStream stream = client.call("manual", "{\"key\":\"" + key + "\"}");
    assertThat(stream.status()).isEqualTo(200);
    ControlledCall call = new ControlledCall(tool, key, stream);
    call.send("begun");
    assertThat(stream.event().data()).contains("begun");
    return call;
  }

  void send(String text) {
    tool.send(key, text);
  }

  void finish() {
    tool.finish(key);
  }

  /** Checks that the call continues: its next events arrive on the stream, and none is missing. */
  void assertContinues(FrameStream continued, long after) {
    send("still here");
    Frame.Event next = continued.event();
    assertThat(next.data()).contains("still here");
    assertThat(next.number()).isEqualTo(after + 1);
    finish();
    assertThat(continued.events())
        .singleElement()
        .satisfies(last -> assertThat(last.data()).contains("\"result\"", "finished"))
        .satisfies(last -> assertThat(last.number()).isEqualTo(after + 2));
  }
}
