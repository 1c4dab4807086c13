package dev.holdfast.http;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.holdfast.http.error.RequestRejectedException;
import jakarta.ws.rs.core.HttpHeaders;
import java.util.Map;
import org.jboss.resteasy.reactive.server.jaxrs.HttpHeadersImpl;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks the Accept and Content-Type headers of requests. */
class RequestChecksTest {

  private static final String BOTH = "application/json, text/event-stream";

  private static HttpHeaders headers(String contentType, String accept) {
    return new HttpHeadersImpl(Map.of("Content-Type", contentType, "Accept", accept).entrySet());
  }

  @ParameterizedTest
  @ValueSource(strings = {BOTH, "*/*", "application/*;q=0.5, text/*", "text/event-stream,*/*"})
  void shouldAcceptClientsOfBothMediaTypes(String accept) {
    assertThatCode(
            () -> RequestChecks.checkPost(headers("application/json; charset=utf-8", accept)))
        .doesNotThrowAnyException();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"application/json", "text/event-stream", "text/html", "garbage", "a/b/c", "/", ""})
  void shouldRefuseClientsOfOneMediaType(String accept) {
    // An invalid media type once caused status 500 and a logged stack trace.
    assertThatExceptionOfType(RequestRejectedException.class)
        .isThrownBy(() -> RequestChecks.checkPost(headers("application/json", accept)))
        .returns(406, RequestRejectedException::status);
  }

  @ParameterizedTest
  @ValueSource(strings = {"application/json", "text/html", "garbage"})
  void shouldRefuseAStreamToClientsThatDoNotAcceptSse(String accept) {
    assertThatExceptionOfType(RequestRejectedException.class)
        .isThrownBy(() -> RequestChecks.checkGet(headers("application/json", accept)))
        .returns(406, RequestRejectedException::status);
  }

  @ParameterizedTest
  @ValueSource(strings = {"text/plain", "application/jsonl", "garbage", "application/", ""})
  void shouldRefuseABodyThatIsNotJson(String contentType) {
    assertThatExceptionOfType(RequestRejectedException.class)
        .isThrownBy(() -> RequestChecks.checkPost(headers(contentType, BOTH)))
        .returns(415, RequestRejectedException::status);
  }
}
