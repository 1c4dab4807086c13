package dev.holdfast.seal;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Seals what clients keep for the gateway (AES-GCM, NIST SP 800-38D), so that they can neither read
 * nor change it. A text opens on any replica, until it expires, and only for the facts to which it
 * is bound. Thread-safe.
 */
public record Seal(SealStore store, InstantSource clock) {

  private static final int KEY_ID = 4;
  private static final int IV = 12;
  private static final int TAG_BITS = 128;

  /** The longest text that is opened. */
  private static final int MAX_TEXT = 128 * 1024;

  /**
   * Seals content.
   *
   * @param bound facts without the character NUL, such as the principal
   * @return a text in URL-safe Base64 (RFC 4648, section 5)
   */
  public String seal(byte[] content, Instant expires, List<String> bound) {
    SealKey key = store.current();
    byte[] iv = new byte[IV];
    new SecureRandom().nextBytes(iv);
    byte[] open =
        ByteBuffer.allocate(Long.BYTES + content.length)
            .putLong(expires.toEpochMilli())
            .put(content)
            .array();
    try {
      byte[] sealed = cipher(Cipher.ENCRYPT_MODE, key, iv, bound).doFinal(open);
      ByteBuffer all = ByteBuffer.allocate(KEY_ID + IV + sealed.length);
      all.putInt(key.id()).put(iv).put(sealed);
      return Base64.getUrlEncoder().withoutPadding().encodeToString(all.array());
    } catch (GeneralSecurityException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /** Opens a text; empty if it is forged, has expired or is bound to other facts. */
  public Optional<byte[]> open(@Nullable String text, List<String> bound) {
    if (text == null || text.length() > MAX_TEXT) {
      return Optional.empty();
    }
    try {
      ByteBuffer all = ByteBuffer.wrap(Base64.getUrlDecoder().decode(text));
      if (all.remaining() <= KEY_ID + IV) {
        return Optional.empty();
      }
      Optional<SealKey> key = store.find(all.getInt());
      if (key.isEmpty()) {
        return Optional.empty();
      }
      byte[] iv = new byte[IV];
      all.get(iv);
      ByteBuffer open =
          ByteBuffer.wrap(cipher(Cipher.DECRYPT_MODE, key.get(), iv, bound).doFinal(rest(all)));
      return clock.millis() < open.getLong() ? Optional.of(rest(open)) : Optional.empty();
    } catch (IllegalArgumentException | GeneralSecurityException forged) {
      return Optional.empty();
    }
  }

  private static byte[] rest(ByteBuffer buffer) {
    byte[] rest = new byte[buffer.remaining()];
    buffer.get(rest);
    return rest;
  }

  private static Cipher cipher(int mode, SealKey key, byte[] iv, List<String> bound)
      throws GeneralSecurityException {
    Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
    cipher.init(mode, new SecretKeySpec(key.bytes(), "AES"), new GCMParameterSpec(TAG_BITS, iv));
    cipher.updateAAD(String.join("\0", bound).getBytes(UTF_8));
    return cipher;
  }
}
