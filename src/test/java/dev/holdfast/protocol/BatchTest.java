package dev.holdfast.protocol;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BatchTest {

  @Test
  void shouldSliceEachMessage() {
    String first =
        "{ \"jsonrpc\":\"2.0\",\"method\":\"é\",\"params\":{\"a\":[{}]},\"id\" : \"€\" }";
    String second = "{\"jsonrpc\":\"2.0\",\"method\":\"n\"}";
    String third = "{\"result\":{},\"jsonrpc\":\"2.0\",\"id\":9}";
    byte[] body = (" [\n" + first + " ,\t" + second + "," + third + " ] ").getBytes(UTF_8);

    Body.Batch batch = (Body.Batch) Envelopes.read(body);

    assertThat(batch.bytes()).isSameAs(body);
    assertThat(batch.messages())
        .extracting(message -> new String(message.bytes(), UTF_8))
        .containsExactly(first, second, third);
    assertThat(((Message.Request) batch.messages().get(0)).id()).isEqualTo(RequestId.of("€"));
    assertThat(((Message.Notification) batch.messages().get(1)).method()).isEqualTo("n");
    assertThat(((Message.Response) batch.messages().get(2)).id()).isEqualTo(RequestId.of(9));
  }

  @Test
  void shouldReadABatchOfOneMessage() {
    Body.Batch batch =
        (Body.Batch) Envelopes.read("[{\"jsonrpc\":\"2.0\",\"method\":\"n\"}]".getBytes(UTF_8));

    assertThat(batch.messages()).hasSize(1);
  }

  @Test
  void shouldReadAdjacentMessages() {
    Body.Batch batch =
        (Body.Batch)
            Envelopes.read(
                "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"},{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"b\"}]"
                    .getBytes(UTF_8));

    assertThat(batch.messages())
        .extracting(message -> ((Message.Request) message).method())
        .containsExactly("a", "b");
  }
}
