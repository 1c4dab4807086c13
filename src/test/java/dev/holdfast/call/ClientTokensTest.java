package dev.holdfast.call;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class ClientTokensTest {

  private static final Instant START = Instant.EPOCH;

  private final AtomicReference<Instant> now = new AtomicReference<>(START);
  private final ClientTokens tokens = new ClientTokens(1000, now::get);

  private static ClientToken token(String value) {
    return new ClientToken(value, START.plusSeconds(10));
  }

  @Test
  void shouldKeepTheNewestTokenOfEachSession() {
    tokens.shown("a", token("1"));
    tokens.shown("b", token("2"));
    tokens.shown("a", token("3"));

    assertThat(tokens.newest("a")).contains(token("3"));
    assertThat(tokens.newest("b")).contains(token("2"));
    assertThat(tokens.newest("c")).isEmpty();
  }

  @Test
  void shouldForgetWhatIsOfNoUse() {
    tokens.shown("a", token("1"));
    tokens.refused("a", "older");
    assertThat(tokens.newest("a")).isPresent();
    tokens.refused("a", "1");
    assertThat(tokens.newest("a")).isEmpty();
    tokens.shown("a", token("1"));
    assertThat(tokens.newest("a")).isPresent();
    tokens.forget("a");
    assertThat(tokens.newest("a")).isEmpty();

    tokens.shown("a", new ClientToken("endless", null));
    tokens.shown("b", token("1"));
    now.set(START.plusSeconds(10));
    assertThat(tokens.newest("b")).isEmpty();
    assertThat(tokens.newest("a")).isPresent();
  }

  @Test
  void shouldForgetTheOldestWhenThereAreTooMany() {
    String large = "x".repeat(200);
    tokens.shown("a", token(large));
    tokens.shown("b", token(large));
    tokens.shown("a", token(large));
    tokens.shown("c", token(large));

    assertThat(tokens.newest("b")).isEmpty();
    assertThat(tokens.newest("a")).isPresent();
    assertThat(tokens.newest("c")).isPresent();
    tokens.shown("d", token("x".repeat(1000)));
    assertThat(tokens.newest("d")).as("larger than all may be").isEmpty();
  }

  @Test
  void shouldKeepTokensOutOfLogs() {
    assertThat(token("secret").toString()).doesNotContain("secret");
  }
}
