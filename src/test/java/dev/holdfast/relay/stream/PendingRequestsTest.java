package dev.holdfast.relay.stream;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.protocol.EnvelopeException;
import dev.holdfast.protocol.Envelopes;
import dev.holdfast.protocol.RequestId;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class PendingRequestsTest {

  private static final String PROGRESS =
      """
      {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}\
      """;

  private static PendingRequests pending(String... ids) {
    return new PendingRequests(Stream.of(ids).map(RequestId::new).toList());
  }

  private static byte[] bytes(String json) {
    return json.getBytes(UTF_8);
  }

  private static byte[] result(String id) {
    return bytes("{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"result\":{}}");
  }

  private static final byte[] ERROR_WITHOUT_ID =
      bytes("{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"Parse error\"}}");

  @Test
  void shouldListTheIdsOfABody() {
    String batch =
        """
        [{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","method":"b"},
         {"jsonrpc":"2.0","id":"1","method":"c"},{"jsonrpc":"2.0","id":7,"result":{}}]
        """;

    assertThat(Envelopes.read(bytes(batch)).requestIds())
        .containsExactly(RequestId.of(1), RequestId.of("1"));
  }

  @Test
  void shouldBeAnsweredByItsResponse() {
    PendingRequests pending = pending("1");

    assertThat(pending.answeredBy(bytes(PROGRESS))).isFalse();
    assertThat(pending.open()).containsExactly(RequestId.of(1));
    assertThat(pending.answeredBy(result("1"))).isTrue();
    assertThat(pending.open()).isEmpty();
  }

  @Test
  void shouldIgnoreAnIdOfAnotherType() {
    PendingRequests pending = pending("1");

    assertThat(pending.answeredBy(result("\"1\""))).isFalse();
    assertThat(pending.answeredBy(result("1.0"))).isFalse();
    assertThat(pending.answeredBy(result("2"))).isFalse();
    assertThat(pending.open()).containsExactly(RequestId.of(1));
  }

  @Test
  void shouldIgnoreARequestOfTheServer() {
    byte[] request = bytes("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"sampling/createMessage\"}");

    assertThat(pending("1").answeredBy(request)).isFalse();
  }

  @Test
  void shouldWaitForAllResponsesOfABatch() {
    PendingRequests pending = pending("1", "2", "3");

    assertThat(pending.answeredBy(result("2"))).isFalse();
    assertThat(pending.open()).containsExactly(RequestId.of(1), RequestId.of(3));
    assertThat(pending.answeredBy(result("3"))).isFalse();
    assertThat(pending.answeredBy(result("1"))).isTrue();
  }

  @Test
  void shouldBeAnsweredByABatchOfResponses() {
    String both = "[" + new String(result("2"), UTF_8) + "," + new String(result("1"), UTF_8) + "]";

    assertThat(pending("1", "2").answeredBy(bytes(both))).isTrue();
  }

  @Test
  void shouldCountAResponseOnce() {
    PendingRequests pending = pending("1", "2");

    assertThat(pending.answeredBy(result("1"))).isFalse();
    assertThat(pending.answeredBy(result("1"))).isFalse();
    assertThat(pending.open()).containsExactly(RequestId.of(2));
  }

  @Test
  void shouldCountADuplicateIdOnce() {
    PendingRequests pending = pending("1", "1");

    assertThat(pending.answeredBy(result("1"))).isTrue();
  }

  @Test
  void shouldApplyAnErrorWithoutIdToTheOnlyRequest() {
    assertThat(pending("1").answeredBy(ERROR_WITHOUT_ID)).isTrue();
  }

  @Test
  void shouldIgnoreAnErrorWithoutIdWhenTwoRequestsArePending() {
    PendingRequests pending = pending("1", "2");

    assertThat(pending.answeredBy(ERROR_WITHOUT_ID)).isFalse();
    assertThat(pending.open()).hasSize(2);
  }

  @Test
  void shouldNeverBeAnsweredWithoutRequests() {
    PendingRequests none = new PendingRequests(List.of());

    assertThat(none.answeredBy(result("1"))).isFalse();
    assertThat(none.answeredBy(ERROR_WITHOUT_ID)).isFalse();
  }

  @Test
  void shouldWaitForTheOthersWhenOneIsCancelled() {
    PendingRequests pending = pending("1", "2");

    assertThat(pending.cancel(RequestId.of(1))).isFalse();
    assertThat(pending.open()).containsExactly(RequestId.of(2));
    assertThat(pending.answeredBy(result("2"))).isTrue();
  }

  @Test
  void shouldWaitForNothingWhenAllAreCancelledOrAnswered() {
    PendingRequests pending = pending("1", "2");
    boolean _ = pending.answeredBy(result("2"));

    assertThat(pending.cancel(RequestId.of(9))).isFalse();
    assertThat(pending.cancel(RequestId.of(1))).isTrue();
  }

  @Test
  void shouldEndWithAResponseThatCrossedItsCancellation() {
    PendingRequests pending = pending("1");
    boolean _ = pending.cancel(RequestId.of(1));

    assertThat(pending.answeredBy(result("1"))).isTrue();
  }

  @Test
  void shouldRejectInvalidJsonRpc() {
    assertThatThrownBy(() -> pending("1").answeredBy(bytes("{\"id\":1}")))
        .isInstanceOf(EnvelopeException.class);
  }

  /** Before, each cancellation was compared with all requests, which took minutes here. */
  @Test
  @Timeout(20)
  void shouldFindEachOfManyRequestsAtOnce() {
    PendingRequests pending =
        new PendingRequests(IntStream.range(0, 5000).mapToObj(i -> escaped(i)).toList());

    for (int i = 0; i < 20_000; i++) {
      assertThat(pending.cancel(escaped(5000 + i))).isFalse();
    }

    assertThat(pending.open()).hasSize(5000);
  }

  @Test
  void shouldAddABoundedNumberOfRequests() {
    PendingRequests pending = pending();
    for (int i = 0; i < 20_000; i++) {
      pending.add(RequestId.parse(Integer.toString(i)));
    }

    assertThat(pending.size()).isEqualTo(10_000);
  }

  /** An id that takes a parser to compare. */
  private static RequestId escaped(int number) {
    return new RequestId("\"\\u0061" + number + "\"");
  }
}
