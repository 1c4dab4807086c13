package dev.holdfast.text;

import java.security.cert.CertPathBuilderException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.net.ssl.SSLException;

/** Reason why a TLS handshake failed. */
public enum TlsProblem {
  WRONG_HOST("its certificate is for another host"),
  EXPIRED("its certificate has expired"),
  NOT_YET_VALID("its certificate is not valid yet"),
  UNKNOWN_AUTHORITY("its certificate comes from an unknown authority"),
  /** Nothing was executed: a server checks certificates before it reads requests. */
  CERTIFICATE_REFUSED("it wants a certificate of this side that it trusts"),
  /** Servers with TLS 1.2 refuse a missing certificate like this, too. */
  HANDSHAKE_REFUSED("it shares no cipher, or wants a certificate of this side"),
  NO_COMMON_VERSION("it shares no version of TLS");

  private static final int MAX_CAUSES = 16;

  /** Messages of Java's trust managers about names (RFC 2818, section 3.1). */
  private static final Pattern HOST =
      Pattern.compile("No (name matching|subject alternative)|doesn't match .* host");

  /** Alerts about the certificate of the client (RFC 8446, section 6.2). */
  private static final Pattern CERTIFICATE_ALERT =
      Pattern.compile(
          "fatal alert: (certificate_required|(bad|unsupported)_certificate|unknown_ca"
              + "|certificate_(unknown|expired|revoked)|access_denied)");

  private static final Pattern VERSION_ALERT =
      Pattern.compile(
          "fatal alert: protocol_version|No appropriate protocol|selected protocol version");

  private static final Pattern HANDSHAKE_ALERT =
      Pattern.compile("fatal alert: (handshake_failure|insufficient_security)");

  private final String text;

  TlsProblem(String text) {
    this.text = text;
  }

  /** Returns the problem behind a failed connection; empty for a failure without one. */
  public static Optional<TlsProblem> of(Throwable failure) {
    return causes(failure).flatMap(TlsProblem::ofOne).findFirst();
  }

  /** Returns a failure, its cause, the cause of that one, and so on. */
  public static Stream<Throwable> causes(Throwable failure) {
    return Stream.iterate(failure, Objects::nonNull, Throwable::getCause).limit(MAX_CAUSES);
  }

  private static Stream<TlsProblem> ofOne(Throwable cause) {
    String message = String.valueOf(cause.getMessage());
    return switch (cause) {
      case CertificateExpiredException _ -> Stream.of(EXPIRED);
      case CertificateNotYetValidException _ -> Stream.of(NOT_YET_VALID);
      case CertPathBuilderException _ -> Stream.of(UNKNOWN_AUTHORITY);
      case CertificateException _ when HOST.matcher(message).find() -> Stream.of(WRONG_HOST);
      case SSLException _ when CERTIFICATE_ALERT.matcher(message).find() ->
          Stream.of(CERTIFICATE_REFUSED);
      case SSLException _ when VERSION_ALERT.matcher(message).find() ->
          Stream.of(NO_COMMON_VERSION);
      case SSLException _ when HANDSHAKE_ALERT.matcher(message).find() ->
          Stream.of(HANDSHAKE_REFUSED);
      default -> Stream.empty();
    };
  }

  /** The problem as a clause whose subject is the other side. */
  @Override
  public String toString() {
    return text;
  }
}
