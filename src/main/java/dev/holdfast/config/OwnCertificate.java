package dev.holdfast.config;

import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Objects;
import java.util.stream.Stream;
import javax.net.ssl.X509KeyManager;
import org.jspecify.annotations.Nullable;

/**
 * Certificate that this program shows to clients or servers.
 *
 * @param tls name of its TLS configuration {@code quarkus.tls.<name>.…}
 * @param end end of its validity
 * @param problem why no peer can accept it; null if there is no reason
 */
public record OwnCertificate(String tls, Instant end, @Nullable String problem) {

  private static final Duration SOON = Duration.ofDays(30);
  private static final byte[] SAMPLE = {1, 2, 3};

  /** Returns the certificates of a key store. */
  public static Stream<OwnCertificate> of(String tls, X509KeyManager keys) {
    return Stream.of("RSA", "EC", "EdDSA")
        .map(type -> keys.getServerAliases(type, null))
        .filter(Objects::nonNull)
        .flatMap(Arrays::stream)
        .distinct()
        .map(alias -> of(tls, keys.getCertificateChain(alias)[0], keys.getPrivateKey(alias)));
  }

  private static OwnCertificate of(String tls, X509Certificate certificate, PrivateKey key) {
    Instant end = certificate.getNotAfter().toInstant();
    return new OwnCertificate(
        tls, end, fits(key, certificate) ? null : "its key belongs to another certificate");
  }

  private static boolean fits(PrivateKey key, X509Certificate certificate) {
    try {
      Signature signature =
          Signature.getInstance(
              switch (key.getAlgorithm()) {
                case "RSA" -> "SHA256withRSA";
                case "EC" -> "SHA256withECDSA";
                default -> key.getAlgorithm();
              });
      signature.initSign(key);
      signature.update(SAMPLE);
      byte[] signed = signature.sign();
      signature.initVerify(certificate);
      signature.update(SAMPLE);
      return signature.verify(signed);
    } catch (GeneralSecurityException differentKinds) {
      return false;
    }
  }

  /** Returns the time until the end of its validity; negative after that. */
  public Duration left() {
    return Duration.between(Instant.now(), end);
  }

  /** Tells if the validity has ended. */
  public boolean hasExpired() {
    return left().isNegative();
  }

  /** Tells if the validity ends within 30 days. */
  public boolean endsSoon() {
    return left().compareTo(SOON) < 0;
  }
}
