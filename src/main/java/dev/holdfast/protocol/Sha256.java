package dev.holdfast.protocol;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** SHA-256 digests. */
public final class Sha256 {

  private Sha256() {}

  /** Begins a digest of several parts. */
  public static MessageDigest begin() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException("every JDK has SHA-256", impossible);
    }
  }

  /** Returns the digest of bytes. */
  public static byte[] of(byte[] bytes) {
    return begin().digest(bytes);
  }
}
