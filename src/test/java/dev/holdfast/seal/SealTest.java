package dev.holdfast.seal;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class SealTest {

  private static final Instant START = Instant.parse("2026-07-28T00:00:00Z");
  private static final List<String> ADA = List.of("retry", "keys ada", "default");
  private static final Duration MINUTE = Duration.ofMinutes(1);

  private final AtomicReference<Instant> now = new AtomicReference<>(START);
  private final Seal seal = newSeal();

  private Seal newSeal() {
    return new Seal(new SealStore.InMemory(now::get), now::get);
  }

  private String sealed(Duration life) {
    return seal.seal("content".getBytes(UTF_8), START.plus(life), ADA);
  }

  private static Optional<String> open(Seal by, String text, List<String> bound) {
    return by.open(text, bound).map(bytes -> new String(bytes, UTF_8));
  }

  @Test
  void shouldOpenWhatItSealed() {
    assertThat(open(seal, sealed(MINUTE), ADA)).contains("content");
    assertThat(open(seal, seal.seal(new byte[0], START.plus(MINUTE), ADA), ADA)).contains("");
    assertThat(sealed(MINUTE)).isNotEqualTo(sealed(MINUTE)).doesNotContain("content");
  }

  @Test
  void shouldNotOpenForOtherFacts() {
    String sealed = sealed(MINUTE);

    assertThat(
            List.of(
                List.of("call", "keys ada", "default"),
                List.of("retry", "keys bob", "default"),
                List.of("retry", "keys ada", "other"),
                List.of("retry", "keys ada"),
                List.<String>of()))
        .allMatch(other -> seal.open(sealed, other).isEmpty());
  }

  @Test
  void shouldNotOpenWhatItDidNotSeal() {
    String sealed = sealed(MINUTE);

    for (int i = 0; i < sealed.length() - 1; i++) { // The last digit may have bits without meaning.
      char other = sealed.charAt(i) == 'A' ? 'B' : 'A';
      String forged = sealed.substring(0, i) + other + sealed.substring(i + 1);
      assertThat(seal.open(forged, ADA)).as("digit " + i).isEmpty();
      assertThat(seal.open(sealed.substring(0, i), ADA)).as("the first " + i).isEmpty();
    }
    assertThat(seal.open("not Base64", ADA)).isEmpty();
    assertThat(seal.open("A".repeat(200_000), ADA)).isEmpty();
    assertThat(seal.open(null, ADA)).isEmpty();
    assertThat(newSeal().open(sealed, ADA)).isEmpty();
  }

  @Test
  void shouldNotOpenWhatHasExpired() {
    String sealed = sealed(MINUTE);

    now.set(START.plus(MINUTE));

    assertThat(seal.open(sealed, ADA)).isEmpty();
  }

  @Test
  void shouldChangeItsKeyAndKeepTheOneBefore() {
    String before = sealed(SealKey.MAX_AGE.plusHours(2));
    SealKey key = seal.store().current();

    now.set(START.plus(SealKey.MAX_AGE).plusSeconds(1));

    assertThat(seal.store().current().id()).isNotEqualTo(key.id());
    assertThat(open(seal, before, ADA)).contains("content");
  }

  @Test
  void shouldUseATextOnce() {
    SealStore store = seal.store();

    assertThat(store.use("a")).isTrue();
    assertThat(store.use("a")).isFalse();
    store.release("a");
    assertThat(store.use("a")).isTrue();
  }

  @Test
  void shouldNotWriteItsSecrets() {
    SealKey key = seal.store().current();

    assertThat(key.toString()).doesNotContain(key.secret());
    assertThat(SealKey.parse(key.format())).isEqualTo(key);
  }
}
