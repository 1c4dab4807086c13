package dev.holdfast.era.north;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.call.Principal;
import dev.holdfast.call.SessionId;
import dev.holdfast.era.north.RetrySeal.Binding;
import dev.holdfast.log.Position;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class RetrySealTest {

  private static final Instant START = Instant.parse("2026-07-28T00:00:00Z");
  private static final Binding ADA = binding("ada", "default", "tools/call", "digest");

  private final AtomicReference<Instant> now = new AtomicReference<>(START);
  private final RetrySeal seal = new RetrySeal(new RetryStore.InMemory(now::get), now::get);

  private static Binding binding(String subject, String upstream, String method, String digest) {
    return new Binding(new Principal("keys", subject), upstream, method, digest);
  }

  private static RetryState state(Duration life) {
    RetryState.Call call =
        new RetryState.Call(
            SessionId.random(),
            true,
            "s1",
            "\"a:b:c:1\"",
            Position.parse("5-1").orElseThrow(),
            Position.parse("6-2").orElseThrow(),
            List.of("1", "\"two\""),
            "once");
    return new RetryState(Optional.of(call), "{\"of\":\"the server\"}", 1, START.plus(life));
  }

  @Test
  void shouldOpenWhatItSealed() {
    RetryState call = state(Duration.ofMinutes(1));
    RetryState without = new RetryState(Optional.empty(), "", 0, call.expires());

    assertThat(seal.open(seal.seal(call, ADA), ADA)).contains(call);
    assertThat(seal.open(seal.seal(without, ADA), ADA)).contains(without);
  }

  @Test
  void shouldNotOpenForAnotherRequest() {
    String sealed = seal.seal(state(Duration.ofMinutes(1)), ADA);

    assertThat(
            List.of(
                binding("bob", "default", "tools/call", "digest"),
                binding("ada", "other", "tools/call", "digest"),
                binding("ada", "default", "prompts/get", "digest"),
                binding("ada", "default", "tools/call", "other"),
                new Binding(Principal.ANONYMOUS, "default", "tools/call", "digest")))
        .allMatch(other -> seal.open(sealed, other).isEmpty());
  }

  @Test
  void shouldNotOpenWhatItDidNotSeal() {
    String sealed = seal.seal(state(Duration.ofMinutes(1)), ADA);

    for (int i = 0; i < sealed.length() - 1; i++) { // The last digit may have bits without meaning.
      char other = sealed.charAt(i) == 'A' ? 'B' : 'A';
      String forged = sealed.substring(0, i) + other + sealed.substring(i + 1);
      assertThat(seal.open(forged, ADA)).as("digit " + i).isEmpty();
      assertThat(seal.open(sealed.substring(0, i), ADA)).as("the first " + i).isEmpty();
    }
    assertThat(seal.open("not Base64", ADA)).isEmpty();
    assertThat(seal.open("A".repeat(200_000), ADA)).isEmpty();
    assertThat(seal.open(null, ADA)).isEmpty();
    RetrySeal elsewhere = new RetrySeal(new RetryStore.InMemory(now::get), now::get);
    assertThat(elsewhere.open(sealed, ADA)).isEmpty();
  }

  @Test
  void shouldNotOpenWhatHasExpired() {
    String sealed = seal.seal(state(Duration.ofMinutes(1)), ADA);

    now.set(START.plus(Duration.ofMinutes(1)));

    assertThat(seal.open(sealed, ADA)).isEmpty();
  }

  @Test
  void shouldChangeItsKeyAndKeepTheOneBefore() {
    String before = seal.seal(state(RetryKey.MAX_AGE.plusHours(2)), ADA);
    RetryKey key = seal.store().current();

    now.set(START.plus(RetryKey.MAX_AGE).plusSeconds(1));

    assertThat(seal.store().current().id()).isNotEqualTo(key.id());
    assertThat(seal.open(before, ADA)).isPresent();
  }

  @Test
  void shouldUseAStateOnce() {
    RetryStore store = seal.store();

    assertThat(store.use("a")).isTrue();
    assertThat(store.use("a")).isFalse();
    store.release("a");
    assertThat(store.use("a")).isTrue();
  }

  @Test
  void shouldNotWriteItsSecrets() {
    RetryKey key = seal.store().current();

    assertThat(key.toString()).doesNotContain(key.secret());
    assertThat(RetryKey.parse(key.format())).isEqualTo(key);
  }
}
