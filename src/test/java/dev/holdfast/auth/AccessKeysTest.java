package dev.holdfast.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.call.Caller;
import dev.holdfast.call.Principal;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AccessKeysTest {

  private static final AccessKey ALICE = AccessKey.random();
  private static final AccessKey BOB = AccessKey.random();

  private static AccessKeys keys(Map<String, String> hashes) {
    return keys(hashes, List.of());
  }

  private static AccessKeys keys(Map<String, String> hashes, List<String> scopes) {
    Map<String, AuthConfig.Key> keys = new HashMap<>();
    hashes.forEach((owner, hash) -> keys.put(owner, new Key(hash, Optional.of(scopes))));
    return new AccessKeys(keys);
  }

  private record Key(String hash, Optional<List<String>> scopes) implements AuthConfig.Key {}

  private static Caller owner(String name, String... scopes) {
    return Caller.of(new Principal("key", name), Set.of(scopes), null);
  }

  @Test
  void shouldFindTheOwnerOfAKey() {
    AccessKeys keys = keys(Map.of("bob", BOB.hash(), "alice", ALICE.hash()));

    assertThat(keys.areRequired()).isTrue();
    assertThat(keys.owners()).containsExactly("alice", "bob");
    assertThat(keys.owner(ALICE)).contains(owner("alice"));
    assertThat(keys.owner(BOB)).contains(owner("bob"));
    assertThat(keys.owner(AccessKey.random())).isEmpty();
    assertThat(keys.owner(new AccessKey(""))).isEmpty();
    // The hash is no secret: it must not open anything.
    assertThat(keys.owner(new AccessKey(ALICE.hash()))).isEmpty();
  }

  @Test
  void shouldRequireNoKeyWhenThereIsNone() {
    assertThat(keys(Map.of()).areRequired()).isFalse();
  }

  @Test
  void shouldMakeKeysThatNobodyCanGuess() {
    assertThat(ALICE.value()).matches("hf_[A-Za-z0-9_-]{43}").isNotEqualTo(BOB.value());
    assertThat(new AccessKey("abc").hash())
        .isEqualTo("sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assertThat(ALICE.toString()).doesNotContain(ALICE.value());
  }

  @Test
  void shouldRefuseAKeyInPlaceOfAHashWithoutQuotingIt() {
    assertThatThrownBy(() -> keys(Map.of("alice", ALICE.value())))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("alice.hash must be sha256: and 64 hexadecimal digits")
        .message()
        .doesNotContain(ALICE.value());
  }

  @Test
  void shouldRefuseTheSameKeyForTwoOwners() {
    assertThatThrownBy(() -> keys(Map.of("alice", ALICE.hash(), "bob", ALICE.hash())))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(
            "bob.hash is used twice: make a key for each owner, and not the one of alice");
  }

  @Test
  void shouldRequireTheScopeOfAnUpstream() {
    RequiredScopes required =
        new RequiredScopes(name -> Optional.of("files:read").filter(_ -> name.equals("files")));
    AccessKeys keys = keys(Map.of("alice", ALICE.hash()), List.of("files:read", "other"));

    Caller alice = keys.owner(ALICE).orElseThrow();
    assertThat(alice).isEqualTo(owner("alice", "files:read", "other"));
    assertThat(required.missing("files", alice)).isEmpty();
    assertThat(required.missing("default", owner("bob"))).isEmpty();
    assertThat(required.missing("files", owner("bob", "files"))).contains("files:read");
    assertThat(required.missing("files", Caller.UNKNOWN)).contains("files:read");
  }

  /** A scope is part of a header. */
  @ParameterizedTest
  @ValueSource(strings = {"", "a b", "a\"b", "a\\b", "a\r\nb", "ä"})
  void shouldRefuseScopesThatAreNoWords(String scope) {
    assertThatThrownBy(() -> keys(Map.of("alice", ALICE.hash()), List.of(scope)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("alice.scopes must be words");
  }
}
