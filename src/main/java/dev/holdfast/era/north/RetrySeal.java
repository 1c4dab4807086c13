package dev.holdfast.era.north;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.call.Caller;
import dev.holdfast.call.Principal;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.Base64;
import java.util.Optional;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Seals states of retries (AES-GCM, NIST SP 800-38D), so that clients can neither read nor change
 * them. A seal opens only for the same principal, upstream, method and parameters. Thread-safe.
 */
record RetrySeal(RetryStore store, InstantSource clock) {

  private static final int KEY_ID = 4;
  private static final int IV = 12;
  private static final int TAG_BITS = 128;

  /** The longest text that is opened. */
  private static final int MAX_TEXT = 128 * 1024;

  /** Facts to which a seal is bound. */
  record Binding(Principal principal, String upstream, String method, String digest) {

    static Binding of(Caller caller, String upstream, ClientRequest request) {
      return new Binding(caller.principal(), upstream, request.method(), request.digest());
    }

    private byte[] bytes() {
      return String.join("\0", principal.recorded(), upstream, method, digest).getBytes(UTF_8);
    }
  }

  String seal(RetryState state, Binding binding) {
    RetryKey key = store.current();
    byte[] iv = new byte[IV];
    new SecureRandom().nextBytes(iv);
    try {
      byte[] sealed = cipher(Cipher.ENCRYPT_MODE, key, iv, binding).doFinal(state.write());
      ByteBuffer all = ByteBuffer.allocate(KEY_ID + IV + sealed.length);
      all.putInt(key.id()).put(iv).put(sealed);
      return Base64.getUrlEncoder().withoutPadding().encodeToString(all.array());
    } catch (GeneralSecurityException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /** Opens a state; empty if it is forged, expired or of another request. */
  Optional<RetryState> open(@Nullable String text, Binding binding) {
    if (text == null || text.length() > MAX_TEXT) {
      return Optional.empty();
    }
    try {
      ByteBuffer all = ByteBuffer.wrap(Base64.getUrlDecoder().decode(text));
      if (all.remaining() <= KEY_ID + IV) {
        return Optional.empty();
      }
      Optional<RetryKey> key = store.find(all.getInt());
      if (key.isEmpty()) {
        return Optional.empty();
      }
      byte[] iv = new byte[IV];
      all.get(iv);
      byte[] sealed = new byte[all.remaining()];
      all.get(sealed);
      byte[] opened = cipher(Cipher.DECRYPT_MODE, key.get(), iv, binding).doFinal(sealed);
      return Optional.of(RetryState.read(opened))
          .filter(state -> clock.instant().isBefore(state.expires()));
    } catch (IllegalArgumentException | GeneralSecurityException forged) {
      return Optional.empty();
    }
  }

  private static Cipher cipher(int mode, RetryKey key, byte[] iv, Binding binding)
      throws GeneralSecurityException {
    Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
    cipher.init(mode, new SecretKeySpec(key.bytes(), "AES"), new GCMParameterSpec(TAG_BITS, iv));
    cipher.updateAAD(binding.bytes());
    return cipher;
  }
}
