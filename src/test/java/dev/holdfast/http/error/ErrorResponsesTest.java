package dev.holdfast.http.error;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.log.LogException;
import dev.holdfast.log.LogKey;
import dev.holdfast.log.StreamRef;
import dev.holdfast.protocol.RequestId;
import dev.holdfast.session.TooManySessionsException;
import dev.holdfast.testing.LoggedLines;
import dev.holdfast.upstream.UpstreamException;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.Response;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Checks the responses to store failures. */
class ErrorResponsesTest {

  private static final RequestId ID = RequestId.of("7");

  private static String text(Response response) {
    return new String((byte[]) response.getEntity(), UTF_8);
  }

  @Test
  void shouldAdviseARetryWhenNothingWasDone() {
    Response response = ErrorResponses.of(new LogException.StoreUnavailable("away", null), ID);

    assertThat(response.getStatus()).isEqualTo(503);
    assertThat(response.getHeaderString(HttpHeaders.RETRY_AFTER)).isEqualTo("1");
  }

  @Test
  void shouldAdviseARetryWhenTheInboxIsFull() {
    Response response = ErrorResponses.of(new LogException.InboxFull(), ID);

    assertThat(response.getStatus()).isEqualTo(503);
    assertThat(response.getHeaderString(HttpHeaders.RETRY_AFTER)).matches("[1-4]");
    assertThat(text(response)).contains("Too much waits for the server");
  }

  static List<RuntimeException> limits() {
    return List.of(
        new RequestRejectedException(503, "Too many requests at once; try again"),
        new TooManySessionsException(1),
        new LogException.TooManyStreams(1),
        new LogException.InboxFull());
  }

  @ParameterizedTest
  @MethodSource("limits")
  void shouldSpreadClientsThatALimitRefusedAtOnce(RuntimeException refused) {
    Set<Integer> advised =
        IntStream.range(0, 1000)
            .mapToObj(_ -> ErrorResponses.of(refused, ID).getHeaderString(HttpHeaders.RETRY_AFTER))
            .map(Integer::valueOf)
            .collect(Collectors.toSet());

    assertThat(advised).containsExactlyInAnyOrder(1, 2, 3, ErrorResponses.MOST_RETRY_AFTER);
  }

  /** The challenge of a proxy before the server is for the gateway. */
  @Test
  void shouldPassChallengesOnWithTheirStatusOnly() {
    assertThat(challenge(401)).isEqualTo("Basic");
    assertThat(challenge(407)).isNull();
  }

  private static @Nullable String challenge(int status) {
    var refused =
        new UpstreamException.Refused(status, null, null, List.of("authorization"), "Basic");
    return ErrorResponses.of(refused, ID).getHeaderString(HttpHeaders.WWW_AUTHENTICATE);
  }

  @Test
  void shouldHideWhatIsUnexpected() {
    StreamRef stream = new StreamRef(new LogKey("session"), "stream");
    try (LoggedLines log = new LoggedLines(ErrorResponses.class)) {
      Response response = ErrorResponses.of(new LogException.Fenced(stream), ID);

      assertThat(response.getStatus()).isEqualTo(500);
      assertThat(text(response)).contains("\"message\":\"Internal error\"");
      log.await("request failed unexpectedly");
    }
  }

  /** With 503 and Retry-After, clients would repeat a request that may already have succeeded. */
  @Test
  void shouldNotAdviseARetryWhenTheOutcomeIsUnknown() {
    Response response = ErrorResponses.of(new LogException.OutcomeUnknown("silent", null), ID);

    assertThat(response.getStatus()).isEqualTo(502);
    assertThat(response.getHeaderString(HttpHeaders.RETRY_AFTER)).isNull();
    assertThat(text(response)).contains("\"id\":\"7\"", "the outcome of the request is unknown");
  }
}
