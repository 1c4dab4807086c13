package dev.holdfast.relay.routing;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class InboxRequestTest {

  private static final byte[] BODY = "{\"a\":\n[1]}".getBytes(UTF_8);

  @Test
  void shouldCarryScopes() {
    Set<String> scopes = Set.of("files:read", "b");

    InboxRequest read = InboxRequest.parse(InboxRequest.format(scopes, BODY));

    assertThat(read.scopes()).isEqualTo(scopes);
    assertThat(read.body()).isEqualTo(BODY);
  }

  /** Replicas of earlier versions read and write these. */
  @Test
  void shouldLeaveRequestsWithoutScopesAsTheyAre() {
    assertThat(InboxRequest.format(Set.of(), BODY)).isSameAs(BODY);
    assertThat(InboxRequest.parse(BODY).scopes()).isEmpty();
    assertThat(InboxRequest.parse(BODY).body()).isSameAs(BODY);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "scopes", "[", "scope a\n{}"})
  void shouldTakeOtherTextsForRequests(String text) {
    assertThat(InboxRequest.parse(text.getBytes(UTF_8)).body()).isEqualTo(text.getBytes(UTF_8));
    assertThat(InboxRequest.parse(text.getBytes(UTF_8)).scopes()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"scopes ", "scopes a b", "scopes \n"})
  void shouldReadIncompleteMessages(String text) {
    assertThat(InboxRequest.parse(text.getBytes(UTF_8)).body()).isEmpty();
  }
}
