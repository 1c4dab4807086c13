package dev.holdfast.auth;

import dev.holdfast.call.Caller;
import dev.holdfast.call.Principal;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The keys that may use the gateway. Thread-safe. */
public final class AccessKeys {

  /** The issuer of the principals. No issuer of tokens has this name: theirs are URLs. */
  private static final String ISSUER = "key";

  private static final String MALFORMED =
      ".hash must be sha256: and 64 hexadecimal digits: use what the command 'key' prints";

  private static final String REPEATED =
      ".hash is used twice: make a key for each owner, and not the one of ";

  private static final String NO_SCOPES =
      ".scopes must be words without spaces, quotes and backslashes, such as files:read";

  private final List<Entry> entries = new ArrayList<>();

  private record Entry(Caller owner, byte[] digest) {}

  /**
   * Reads the keys.
   *
   * @throws IllegalArgumentException when a hash or a scope is malformed, or a hash is used twice.
   *     The message begins with the name of the owner. It does not quote the hash, which may be a
   *     key by mistake
   */
  public AccessKeys(Map<String, AuthConfig.Key> keys) {
    Map<String, String> owners = new HashMap<>();
    new TreeMap<>(keys)
        .forEach((owner, key) -> {
          byte[] digest =
              AccessKey.digestIn(key.hash())
                  .orElseThrow(() -> new IllegalArgumentException(owner + MALFORMED));
          String other = owners.put(key.hash(), owner);
          if (other != null) {
            throw new IllegalArgumentException(owner + REPEATED + other);
          }
          List<String> scopes = key.scopes().orElse(List.of());
          if (!scopes.stream().allMatch(RequiredScopes::isScope)) {
            throw new IllegalArgumentException(owner + NO_SCOPES);
          }
          Caller caller = Caller.of(new Principal(ISSUER, owner), Set.copyOf(scopes), null);
          entries.add(new Entry(caller, digest));
        });
  }

  /** Returns true if requests need a key. */
  public boolean areRequired() {
    return !entries.isEmpty();
  }

  /** The names of the owners, in order. */
  public List<String> owners() {
    return entries.stream().map(entry -> entry.owner().principal().subject()).toList();
  }

  /**
   * Finds the owner of the key with a {@link AccessKey#hash}; empty when nobody has it any more.
   */
  public Optional<Caller> ownerOf(String hash) {
    return AccessKey.digestIn(hash).flatMap(this::owner);
  }

  /** Finds the owner of a key. Takes as long for every key that nobody has. */
  public Optional<Caller> owner(AccessKey key) {
    return owner(key.digest());
  }

  private Optional<Caller> owner(byte[] digest) {
    @Nullable Caller owner = null;
    for (Entry entry : entries) {
      if (MessageDigest.isEqual(entry.digest(), digest)) {
        owner = entry.owner();
      }
    }
    return Optional.ofNullable(owner);
  }
}
