package dev.holdfast.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testing.Frame;
import dev.holdfast.testing.FrameStream;
import dev.holdfast.testing.McpClient;
import java.util.UUID;

/** A call of the {@link ManualTool} that is under way, and its stream. */
record ManualCall(ManualTool tool, String key, FrameStream stream) {

  /** Begins a call and waits for its first message, number 1. */
  static ManualCall begin(McpClient client, ManualTool tool) {
    String key = UUID.randomUUID().toString();
    FrameStream stream = client.call("manual", "{\"key\":\"" + key + "\"}");
    assertThat(stream.status()).isEqualTo(200);
    ManualCall call = new ManualCall(tool, key, stream);
    call.say("begun");
    assertThat(stream.event().data()).contains("begun");
    return call;
  }

  void say(String text) {
    tool.say(key, text);
  }

  void finish() {
    tool.finish(key);
  }

  /** The call goes on as if nothing had happened: the next events come, and none is missing. */
  void assertGoesOn(FrameStream on, long after) {
    say("still here");
    Frame.Event next = on.event();
    assertThat(next.data()).contains("still here");
    assertThat(next.number()).isEqualTo(after + 1);
    finish();
    assertThat(on.events())
        .singleElement()
        .satisfies(last -> assertThat(last.data()).contains("\"result\"", "finished"))
        .satisfies(last -> assertThat(last.number()).isEqualTo(after + 2));
  }
}
