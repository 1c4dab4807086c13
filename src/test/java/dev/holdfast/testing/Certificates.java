package dev.holdfast.testing;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/** A certificate authority, and the certificates that it issues. They are made by keytool. */
public final class Certificates {

  /** The subject alternative names of a local program, in keytool's format. */
  public static final String LOOPBACK = "ip:127.0.0.1,dns:localhost";

  private static final String PASSWORD = "changeit";

  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final String AUTHORITY = "authority";

  private final Path directory;
  private final Path store;

  /** Makes an authority, whose files lie in the directory. */
  public Certificates(Path directory, String name) {
    this.directory = directory;
    store = directory.resolve(name + "-authority.p12");
    generate(AUTHORITY, name, "bc:c");
    write(certificate(), pem("CERTIFICATE", encoded(entry(AUTHORITY)[0])));
  }

  /** The authority's own certificate in PEM. */
  public Path certificate() {
    return Path.of(store.toString().replace(".p12", ".pem"));
  }

  /** Issues a certificate for the loopback address. */
  public Identity issue(String name) {
    return issue(name, LOOPBACK);
  }

  /**
   * Issues a certificate.
   *
   * @param name its subject, and the name of its files
   * @param hosts its subject alternative names, in keytool's format
   * @param options more options of keytool, such as {@code -validity} with a number of days
   */
  public Identity issue(String name, String hosts, String... options) {
    List<String> more = new ArrayList<>(List.of("-signer", AUTHORITY));
    more.addAll(List.of(options));
    generate(name, name, "san=" + hosts, more.toArray(String[]::new));
    try {
      Identity issued = new Identity(directory.resolve(name));
      KeyStore own = KeyStore.getInstance("PKCS12");
      own.load(null, null);
      own.setKeyEntry(
          name, load(store).getKey(name, PASSWORD.toCharArray()), password(), entry(name));
      try (OutputStream out = Files.newOutputStream(issued.keyStore())) {
        own.store(out, password());
      }
      write(issued.certificate(), pem("CERTIFICATE", encoded(entry(name)[0])));
      byte[] key = load(store).getKey(name, password()).getEncoded();
      write(issued.key(), pem("PRIVATE KEY", key));
      return issued;
    } catch (GeneralSecurityException | IOException failure) {
      throw new IllegalStateException(failure);
    }
  }

  /**
   * Returns TLS of a program that trusts this authority.
   *
   * @param identity what the program shows; null for nothing
   */
  public SSLContext context(@Nullable Identity identity) {
    try {
      KeyStore trusted = KeyStore.getInstance("PKCS12");
      trusted.load(null, null);
      trusted.setCertificateEntry(AUTHORITY, entry(AUTHORITY)[0]);
      TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
      trust.init(trusted);
      SSLContext context = SSLContext.getInstance("TLS");
      KeyManager[] keys = {};
      if (identity != null) {
        KeyManagerFactory factory = KeyManagerFactory.getInstance("PKIX");
        factory.init(load(identity.keyStore()), password());
        keys = factory.getKeyManagers();
      }
      context.init(keys, trust.getTrustManagers(), null);
      return context;
    } catch (GeneralSecurityException | IOException failure) {
      throw new IllegalStateException(failure);
    }
  }

  /** A certificate with its key, as the key store of both, and each in PEM. */
  public record Identity(Path files) {

    /** Both in one file. */
    public Path keyStore() {
      return Path.of(files + ".p12");
    }

    /** The certificate. */
    public Path certificate() {
      return Path.of(files + ".crt");
    }

    /** The key. */
    public Path key() {
      return Path.of(files + ".key");
    }

    /** Puts another certificate and its key into the files in PEM. */
    public void renew(Identity newer) throws IOException {
      Files.move(newer.certificate(), certificate(), StandardCopyOption.ATOMIC_MOVE);
      Files.move(newer.key(), key(), StandardCopyOption.ATOMIC_MOVE);
    }
  }

  private void generate(String alias, String subject, String extension, String... more) {
    String keytool = Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
    List<String> command = new ArrayList<>(List.of(keytool, "-genkeypair", "-keyalg", "EC"));
    command.addAll(List.of("-alias", alias, "-dname", "CN=" + subject, "-ext", extension));
    command.addAll(List.of("-keystore", store.toString(), "-storetype", "PKCS12"));
    command.addAll(List.of("-storepass", PASSWORD));
    command.addAll(List.of(more));
    if (!command.contains("-validity")) {
      command.addAll(List.of("-validity", "2"));
    }
    try {
      ProcessResult made = ProcessRun.toEnd(directory, TIMEOUT, command);
      assertThat(made.exitCode()).as(made.toString()).isZero();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private Certificate[] entry(String alias) {
    try {
      return load(store).getCertificateChain(alias);
    } catch (GeneralSecurityException | IOException failure) {
      throw new IllegalStateException(failure);
    }
  }

  private static KeyStore load(Path file) throws GeneralSecurityException, IOException {
    return KeyStore.getInstance(file.toFile(), password());
  }

  private static byte[] encoded(Certificate certificate) {
    try {
      return certificate.getEncoded();
    } catch (GeneralSecurityException failure) {
      throw new IllegalStateException(failure);
    }
  }

  private static char[] password() {
    return PASSWORD.toCharArray();
  }

  private static String pem(String type, byte[] content) {
    String text = Base64.getMimeEncoder(64, "\n".getBytes(US_ASCII)).encodeToString(content);
    return "-----BEGIN %s-----\n%s\n-----END %s-----\n".formatted(type, text, type);
  }

  private static void write(Path file, String text) {
    try {
      Files.writeString(file, text);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
