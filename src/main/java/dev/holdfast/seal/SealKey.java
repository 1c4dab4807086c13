package dev.holdfast.seal;

import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;

/**
 * A key that seals texts.
 *
 * @param id names the key in the texts that it has sealed
 * @param secret 32 random bytes in Base64
 */
public record SealKey(int id, String secret, Instant created) {

  /** Time for which new texts are sealed with one key. */
  static final Duration MAX_AGE = Duration.ofDays(1);

  private static final int BYTES = 32;

  static SealKey random(Instant now) {
    // Created per call: a native image must not contain a seed from its build.
    SecureRandom random = new SecureRandom();
    byte[] secret = new byte[BYTES];
    random.nextBytes(secret);
    return new SealKey(random.nextInt(), Base64.getEncoder().encodeToString(secret), now);
  }

  boolean isOld(Instant now) {
    return now.isAfter(created.plus(MAX_AGE));
  }

  byte[] bytes() {
    return Base64.getDecoder().decode(secret);
  }

  String format() {
    return id + " " + secret + " " + created.toEpochMilli();
  }

  /** Reads what {@link #format} returned. */
  static SealKey parse(String text) {
    List<String> parts = List.of(text.split(" ", -1));
    return new SealKey(
        Integer.parseInt(parts.get(0)),
        parts.get(1),
        Instant.ofEpochMilli(Long.parseLong(parts.get(2))));
  }

  /** Keeps the secret out of logs. */
  @Override
  public String toString() {
    return "SealKey[" + Integer.toHexString(id) + "]";
  }
}
