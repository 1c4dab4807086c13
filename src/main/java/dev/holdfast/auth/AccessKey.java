package dev.holdfast.auth;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.protocol.Sha256;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Optional;
import java.util.regex.Pattern;

/** A secret that a client presents as a bearer token (RFC 6750). */
public record AccessKey(String value) {

  /** Lets scanners for secrets, and readers, recognize a key. */
  private static final String PREFIX = "hf_";

  private static final int RANDOM_BYTES = 32;
  private static final String HASH_PREFIX = "sha256:";
  private static final Pattern HASH = Pattern.compile(HASH_PREFIX + "[0-9a-f]{64}");

  /** A new key with 256 random bits. */
  public static AccessKey random() {
    byte[] bytes = new byte[RANDOM_BYTES];
    // Created per call: a native image must not contain a seed from its build.
    new SecureRandom().nextBytes(bytes);
    return new AccessKey(PREFIX + Base64.getUrlEncoder().withoutPadding().encodeToString(bytes));
  }

  /** Returns true if it looks like one that {@link #random} has made. */
  boolean hasPrefix() {
    return value.startsWith(PREFIX);
  }

  /**
   * The text that the configuration holds in place of the key. A fast hash is enough: nobody can
   * guess 256 random bits.
   */
  public String hash() {
    return HASH_PREFIX + HexFormat.of().formatHex(digest());
  }

  byte[] digest() {
    return Sha256.of(value.getBytes(UTF_8));
  }

  /** Returns the digest in a {@link #hash}; empty when the text is none. */
  static Optional<byte[]> digestIn(String hash) {
    return HASH.matcher(hash).matches()
        ? Optional.of(HexFormat.of().parseHex(hash.substring(HASH_PREFIX.length())))
        : Optional.empty();
  }

  /** Omits the key, which is a credential. */
  @Override
  public String toString() {
    return "AccessKey[…]";
  }
}
